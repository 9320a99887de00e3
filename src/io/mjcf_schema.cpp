// SPDX-License-Identifier: Apache-2.0
#include "io/mjcf_schema.hpp"

#include "io/table_reader.hpp"
#include "io/text.hpp"
#include "io/xml_reader.hpp"

#include <tangere/error.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tangere::io {

namespace {

/// Attributes that several elements have; "@name" stands for them.
struct List {
  std::string_view name;
  std::string_view words;
};

constexpr List kLists[] = {
    {"@rotation", "quat axisangle xyaxes zaxis euler"},
    {"@joint",
     "type group pos axis springdamper limited actuatorfrclimited solreflimit solimplimit "
     "solreffriction solimpfriction stiffness range actuatorfrcrange actuatorgravcomp margin ref "
     "springref armature damping frictionloss user"},
    {"@geom",
     "type contype conaffinity condim group priority size material friction mass density "
     "shellinertia solmix solref solimp margin gap surfacevel adhesion fromto pos @rotation hfield "
     "mesh fitscale rgba fluidshape fluidcoef user"},
    {"@site", "type group pos @rotation material size fromto rgba user"},
    {"@camera",
     "projection fovy ipd resolution output pos @rotation mode focal focalpixel principal "
     "principalpixel sensorsize user"},
    {"@light",
     "directional type castshadow active pos dir bulbradius intensity range attenuation cutoff "
     "softness exponent ambient diffuse specular mode"},
    {"@material",
     "texture texrepeat texuniform emission specular shininess reflectance metallic roughness "
     "rgba"},
    {"@pair", "condim friction solref solreffriction solimp gap margin adhesion"},
    {"@string",
     "group limited range solreflimit solimplimit solreffriction solimpfriction frictionloss "
     "springlength width material margin stiffness damping rgba user"},
    {"@control", "group nsample interp delay ctrlrange user"},
    {"@gear", "gear damping armature cranklength"},
    {"@motor", "@control ctrllimited forcelimited forcerange @gear"},
    {"@target",
     "name class lengthrange joint jointinparent tendon slidersite cranksite site refsite"},
    {"@general",
     "@motor actlimited actrange actdim input velrange ffrange dyntype gaintype biastype dynprm "
     "gainprm biasprm actearly"},
    {"@position", "@motor inheritrange kp kv dampratio timeconst"},
    {"@velocity", "@motor kv"},
    {"@intvelocity", "@motor actlimited actrange inheritrange kp kv dampratio"},
    {"@orientation", "@control forcelimited forcerange kp kv dampratio input"},
    {"@pid", "@motor posrange velrange ffrange inheritrange kp kv dampratio ki imax slewmax input"},
    {"@damper", "@control forcelimited forcerange @gear kv"},
    {"@cylinder", "@motor timeconst area diameter bias"},
    {"@muscle", "@motor timeconst range force scale lmin lmax vmax fpmax fvmax"},
    {"@adhesion", "@control forcelimited forcerange gain"},
    {"@dcmotor",
     "@control ctrllimited @gear motorconst resistance nominal saturation inductance cogging "
     "controller thermal lugre input"},
    {"@equality", "name class active solref solimp"},
    {"@softcontact",
     "contype conaffinity condim priority friction solmix solref solimp margin gap internal "
     "selfcollide activelayers passive"},
    {"@skin", "name file material rgba inflate vertex texcoord face group"},
    {"@sensor", "name nsample interp delay interval cutoff noise user"},
    {"@object", "objtype objname"},
    {"@frame", "@sensor @object reftype refname"},
    {"@between", "@sensor geom1 geom2 body1 body2"},
};

/// An element, in which others it may stand, and its attributes.
struct Entry {
  std::string_view parents;
  std::string_view name;
  std::string_view attributes;
};

constexpr Entry kEntries[] = {
    {"mujoco", "compiler",
     "autolimits boundmass boundinertia settotalmass balanceinertia strippath coordinate angle "
     "fitaabb eulerseq meshdir texturedir discardvisual usethread fusestatic inertiafromgeom "
     "inertiagrouprange saveinertial assetdir alignfree conflict"},
    {"compiler", "lengthrange",
     "mode useexisting uselimit accel maxforce timeconst timestep inttotal interval tolrange"},
    {"mujoco", "option",
     "timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance "
     "gravity wind magnetic density viscosity o_margin o_solref o_solimp o_friction integrator "
     "cone jacobian solver iterations ls_iterations noslip_iterations ccd_iterations "
     "sdf_iterations sdf_initpoints actuatorgroupdisable"},
    {"option", "flag",
     "constraint equality frictionloss limit contact spring damper gravity clampctrl warmstart "
     "filterparent actuation refsafe sensor midphase eulerdamp autoreset nativeccd island multiccd "
     "override energy fwdinv invdiscrete sleep diagexact"},
    {"mujoco", "size",
     "memory njmax nconmax nstack nuserdata nkey nuser_body nuser_jnt nuser_geom nuser_site "
     "nuser_cam nuser_tendon nuser_actuator nuser_sensor"},
    {"mujoco", "statistic", "meaninertia meanmass meansize extent center"},
    {"mujoco", "visual", ""},
    {"visual", "global",
     "cameraid orthographic fovy ipd azimuth elevation linewidth glow offwidth offheight realtime "
     "ellipsoidinertia bvactive"},
    {"visual", "quality", "shadowsize offsamples numslices numstacks numquads"},
    {"visual", "headlight", "ambient diffuse specular active"},
    {"visual", "map",
     "stiffness stiffnessrot force torque alpha fogstart fogend znear zfar haze shadowclip "
     "shadowscale actuatortendon"},
    {"visual", "scale",
     "forcewidth contactwidth contactheight connect com camera light selectpoint jointlength "
     "jointwidth actuatorlength actuatorwidth framelength framewidth constraint slidercrank "
     "frustum"},
    {"visual", "rgba",
     "fog haze force inertia joint actuator actuatornegative actuatorpositive com camera light "
     "selectpoint connect contactpoint contactforce contactfriction contacttorque contactgap "
     "rangefinder constraint slidercrank crankbroken frustum bv bvactive"},

    {"mujoco default", "default", "class"},
    {"default", "mesh", "scale maxhullvert inertia"},
    {"default", "material", "@material"},
    {"default", "joint", "@joint"},
    {"default", "geom", "@geom"},
    {"default", "site", "@site"},
    {"default", "camera", "@camera"},
    {"default", "light", "@light"},
    {"default", "pair", "@pair"},
    {"default", "equality", "active solref solimp"},
    {"default", "tendon", "@string"},
    {"default", "general", "@general"},
    {"default", "motor", "@motor"},
    {"default", "position", "@position"},
    {"default", "velocity", "@velocity"},
    {"default", "intvelocity", "@intvelocity"},
    {"default", "orientation", "@orientation"},
    {"default", "pid", "@pid"},
    {"default", "damper", "@damper"},
    {"default", "cylinder", "@cylinder"},
    {"default", "muscle", "@muscle"},
    {"default", "adhesion", "@adhesion"},
    {"default", "dcmotor", "@dcmotor"},

    {"mujoco", "extension", ""},
    {"extension", "plugin", "plugin"},
    {"plugin", "instance", "name"},
    {"plugin instance", "config", "key value"},

    {"mujoco", "asset", ""},
    {"asset", "mesh",
     "name class content_type file vertex normal texcoord face refpos refquat scale smoothnormal "
     "maxhullvert inertia builtin params material"},
    {"asset", "hfield", "name content_type file nrow ncol size elevation"},
    {"asset deformable", "skin", "@skin"},
    {"skin", "bone", "body bindpos bindquat vertid vertweight"},
    {"asset", "texture",
     "name type colorspace content_type file gridsize gridlayout fileright fileleft fileup "
     "filedown "
     "filefront fileback builtin rgb1 rgb2 mark markrgb random width height hflip vflip nchannel"},
    {"asset", "material", "name class @material"},
    {"material", "layer", "texture role"},
    {"asset", "model", "name file content_type"},

    {"mujoco", "worldbody", ""},
    {"worldbody body frame replicate", "body",
     "name childclass pos @rotation mocap gravcomp sleep simple user"},
    {"worldbody body frame replicate", "frame", "name childclass pos @rotation"},
    {"worldbody body frame replicate", "replicate", "count offset euler sep childclass"},
    {"body frame replicate", "inertial", "pos @rotation mass diaginertia fullinertia"},
    {"body frame replicate", "joint", "name class @joint"},
    {"body frame replicate", "freejoint", "name group align"},
    {"worldbody body frame replicate", "geom", "name class @geom"},
    {"worldbody body frame replicate", "site", "name class @site"},
    {"worldbody body frame replicate", "camera", "name class target @camera"},
    {"worldbody body frame replicate", "light", "name class target texture @light"},
    {"worldbody body frame replicate", "attach", "model body frame prefix"},
    {"worldbody body frame replicate", "composite",
     "prefix type count offset vertex initial curve size quat"},
    {"composite", "joint",
     "kind group stiffness damping armature solreffix solimpfix type axis limited range margin "
     "solreflimit solimplimit frictionloss solreffriction solimpfriction"},
    {"composite", "skin", "texcoord material group rgba inflate subgrid"},
    {"composite", "geom", "@geom"},
    {"composite", "site", "group size material rgba"},
    {"worldbody body frame replicate", "flexcomp",
     "name type group dim dof count cellcount spacing radius rigid mass inertiabox scale file "
     "point "
     "element texcoord material rgba flatskin pos @rotation origin"},
    {"flexcomp", "edge", "equality solref solimp stiffness damping"},
    {"flex", "edge", "stiffness damping"},
    {"flexcomp flex", "elasticity", "young poisson damping thickness elastic2d"},
    {"flexcomp flex", "contact", "@softcontact"},
    {"flexcomp", "pin", "id range grid gridrange"},
    {"mesh geom body worldbody frame replicate composite flexcomp", "plugin", "plugin instance"},

    {"mujoco", "deformable", ""},
    {"deformable", "flex",
     "name group dim radius material rgba flatskin body vertex element texcoord elemtexcoord node "
     "nodecoord cellcount dof"},

    {"mujoco", "contact", ""},
    {"contact", "pair", "name class geom1 geom2 @pair"},
    {"contact", "exclude", "name body1 body2"},

    {"mujoco", "tendon", ""},
    {"tendon", "spatial", "name class @string actuatorfrclimited actuatorfrcrange armature"},
    {"spatial", "site", "site"},
    {"spatial", "geom", "geom sidesite"},
    {"spatial", "pulley", "divisor"},
    {"tendon", "fixed", "name class @string actuatorfrclimited actuatorfrcrange armature"},
    {"fixed", "joint", "joint coef"},

    {"mujoco", "equality", ""},
    {"equality", "connect", "@equality body1 body2 anchor site1 site2"},
    {"equality", "weld", "@equality body1 body2 relpose anchor site1 site2 torquescale"},
    {"equality", "joint", "@equality joint1 joint2 polycoef"},
    {"equality", "tendon", "@equality tendon1 tendon2 polycoef"},
    {"equality", "flex", "@equality flex"},
    {"equality", "flexvert", "@equality flex"},
    {"equality", "flexstrain", "@equality flex cell"},

    {"mujoco", "actuator", ""},
    {"actuator", "general", "@target @general body"},
    {"actuator", "motor", "@target @motor"},
    {"actuator", "position", "@target @position"},
    {"actuator", "velocity", "@target @velocity"},
    {"actuator", "intvelocity", "@target @intvelocity"},
    {"actuator", "orientation", "name class joint site refsite @orientation"},
    {"actuator", "pid", "@target @pid"},
    {"actuator", "damper", "@target @damper"},
    {"actuator", "cylinder", "@target @cylinder"},
    {"actuator", "muscle", "@target @muscle tausmooth"},
    {"actuator", "adhesion", "name class body @adhesion"},
    {"actuator", "dcmotor", "@target @dcmotor"},
    {"actuator", "plugin",
     "@target plugin instance @motor actlimited actrange actdim dyntype dynprm actearly"},

    {"mujoco", "sensor", ""},
    {"sensor", "touch", "@sensor site"},
    {"sensor", "accelerometer", "@sensor site"},
    {"sensor", "velocimeter", "@sensor site"},
    {"sensor", "gyro", "@sensor site"},
    {"sensor", "force", "@sensor site"},
    {"sensor", "torque", "@sensor site"},
    {"sensor", "magnetometer", "@sensor site"},
    {"sensor", "camprojection", "@sensor site camera"},
    {"sensor", "rangefinder", "@sensor site camera data"},
    {"sensor", "jointpos", "@sensor joint"},
    {"sensor", "jointvel", "@sensor joint"},
    {"sensor", "tendonpos", "@sensor tendon"},
    {"sensor", "tendonvel", "@sensor tendon"},
    {"sensor", "actuatorpos", "@sensor actuator"},
    {"sensor", "actuatorvel", "@sensor actuator"},
    {"sensor", "actuatorfrc", "@sensor actuator"},
    {"sensor", "jointactuatorfrc", "@sensor joint"},
    {"sensor", "tendonactuatorfrc", "@sensor tendon"},
    {"sensor", "ballquat", "@sensor joint"},
    {"sensor", "ballangvel", "@sensor joint"},
    {"sensor", "jointlimitpos", "@sensor joint"},
    {"sensor", "jointlimitvel", "@sensor joint"},
    {"sensor", "jointlimitfrc", "@sensor joint"},
    {"sensor", "tendonlimitpos", "@sensor tendon"},
    {"sensor", "tendonlimitvel", "@sensor tendon"},
    {"sensor", "tendonlimitfrc", "@sensor tendon"},
    {"sensor", "framepos", "@frame"},
    {"sensor", "framequat", "@frame"},
    {"sensor", "framexaxis", "@frame"},
    {"sensor", "frameyaxis", "@frame"},
    {"sensor", "framezaxis", "@frame"},
    {"sensor", "framelinvel", "@frame"},
    {"sensor", "frameangvel", "@frame"},
    {"sensor", "framelinacc", "@sensor @object"},
    {"sensor", "frameangacc", "@sensor @object"},
    {"sensor", "subtreecom", "@sensor body"},
    {"sensor", "subtreelinvel", "@sensor body"},
    {"sensor", "subtreeangmom", "@sensor body"},
    {"sensor", "insidesite", "@sensor site @object"},
    {"sensor", "distance", "@between"},
    {"sensor", "normal", "@between"},
    {"sensor", "fromto", "@between"},
    {"sensor", "contact", "@between subtree1 subtree2 site num data reduce"},
    {"sensor", "e_potential", "@sensor"},
    {"sensor", "e_kinetic", "@sensor"},
    {"sensor", "clock", "@sensor"},
    {"sensor", "tactile", "name geom mesh nsample interp delay interval user"},
    {"sensor", "user", "name @object datatype needstage dim cutoff noise user"},
    {"sensor", "plugin", "name plugin instance cutoff @object reftype refname user"},

    {"mujoco", "custom", ""},
    {"custom", "numeric", "name size data"},
    {"custom", "text", "name data"},
    {"custom", "tuple", "name"},
    {"tuple", "element", "@object prm"},

    {"mujoco", "keyframe", ""},
    {"keyframe", "key", "name time qpos qvel act mpos mquat ctrl"},
};

bool hasWord(std::string_view words, std::string_view word) {
  const std::vector<std::string_view> all = splitWords(words);
  return std::find(all.begin(), all.end(), word) != all.end();
}

/// The words of a list of attributes, lists in it replaced by theirs.
void expand(std::string_view words, std::vector<std::string>* out) {
  for (const std::string_view word : splitWords(words)) {
    if (word[0] != '@') {
      out->emplace_back(word);
      continue;
    }
    for (const List& list : kLists) {
      if (list.name == word) expand(list.words, out);
    }
  }
}

/// The vocabulary laid out for questions.
class Vocabulary {
 public:
  Vocabulary() {
    for (const Entry& entry : kEntries) {
      for (const std::string_view parent : splitWords(entry.parents)) {
        std::vector<std::string>& attributes =
            attributes_[{std::string(parent), std::string(entry.name)}];
        expand(entry.attributes, &attributes);
        children_[std::string(parent)].emplace_back(entry.name);
      }
    }
  }

  /// Null where the child may not stand in the parent.
  [[nodiscard]] const std::vector<std::string>* attributesOf(const std::string& parent,
                                                             const std::string& child) const {
    const auto found = attributes_.find({parent, child});
    return found != attributes_.end() ? &found->second : nullptr;
  }
  [[nodiscard]] std::vector<std::string> childrenOf(const std::string& parent) const {
    const auto found = children_.find(parent);
    return found != children_.end() ? found->second : std::vector<std::string>{};
  }

 private:
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> attributes_;
  std::map<std::string, std::vector<std::string>> children_;
};

void checkAttributes(const XmlElement& element, const std::vector<std::string>& known,
                     ImportNotes& notes) {
  constexpr std::size_t kMaxCompared = 64;
  for (const XmlAttribute& attribute : element.attributes) {
    if (std::find(known.begin(), known.end(), attribute.name) != known.end()) continue;
    attribute.isRead = true;
    notes.addIn(*element.file, ImportNote::Kind::Error, attribute.place,
                element.name + ": found the attribute " + io::quoted(attribute.name) +
                    ", expected one of MJCF's" +
                    nearNames(attribute.name.substr(0, kMaxCompared), known));
  }
}

}  // namespace

void checkMjcfVocabulary(const XmlElement& root, ImportNotes& notes) {
  static const Vocabulary vocabulary;
  checkAttributes(root, {"model"}, notes);
  std::vector<const XmlElement*> pending{&root};
  while (!pending.empty()) {
    const XmlElement& parent = *pending.back();
    pending.pop_back();
    // Of a composite or a flexible object nothing is used: one error says so.
    for (auto child = parent.children.rbegin(); child != parent.children.rend(); ++child) {
      const std::vector<std::string>* known = vocabulary.attributesOf(parent.name, child->name);
      if (known == nullptr) {
        refuseChild(notes, *child, parent.name, vocabulary.childrenOf(parent.name));
        continue;
      }
      checkAttributes(*child, *known, notes);
      pending.push_back(&*child);
    }
    if (!parent.text.empty()) {
      notes.addIn(*parent.file, ImportNote::Kind::Error, parent.textPlace,
                  parent.name + ": found the text " + io::quoted(parent.text) +
                      ", expected elements alone");
    }
  }
}

const char* whyMjcfIgnored(const XmlElement& element, const XmlAttribute* attribute) {
  constexpr const char* kLooks = "it has no effect on the motion";
  if (attribute == nullptr) {
    constexpr std::string_view kLookElements =
        "visual statistic texture material camera light skin layer";
    if (hasWord(kLookElements, element.name)) return kLooks;
    if (element.name == "size") return "memory is taken as it is needed";
    if (element.name == "custom") return "nothing here reads it";
    if (element.name == "lengthrange") return "it is for muscles";
    return "it is not available in this version";
  }
  constexpr std::string_view kLookAttributes =
      "rgba material group width texturedir discardvisual normal texcoord smoothnormal model";
  if (hasWord(kLookAttributes, attribute->name)) return kLooks;
  if (attribute->name == "user") return "nothing here reads it";
  if (element.name == "option" || element.name == "flag")
    return "it belongs to MuJoCo's solver; the SAP solver has options of its own";
  if (element.name == "compiler") return "it has no effect on what is read";
  return "it is not available in this version";
}

}  // namespace tangere::io
