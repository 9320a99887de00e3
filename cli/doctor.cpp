// SPDX-License-Identifier: Apache-2.0
//
// tangere doctor: what this program is, what it runs on, and which optional parts are there.
#include "commands.hpp"

#include <tangere/collision.hpp>

#include <unistd.h>

#include <cfenv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tangere::cli {

namespace {

std::string cpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

double memoryGigabytes() {
  const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return bytes / (1024.0 * 1024.0 * 1024.0);
}

std::string operatingSystem() {
  std::ifstream info("/etc/os-release");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("PRETTY_NAME=", 0) == 0) return line.substr(13, line.size() - 14);
  return "unknown";
}

std::string gpuName() {
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    std::ifstream info(entry.path() / "information");
    for (std::string line; std::getline(info, line);)
      if (line.rfind("Model:", 0) == 0) return line.substr(line.find_first_not_of(" \t", 6));
  }
  return "none found";
}

/// First folder of PATH that holds an executable of that name, or nothing.
std::string findProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::string file = rest.substr(0, colon) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return "";
}

Json optionalPart(const std::string& name, const std::string& program, const std::string& use,
                  const std::string& howToGet) {
  const std::string found = findProgram(program);
  Json part = {{"name", name}, {"use", use}, {"found", !found.empty()}};
  if (found.empty())
    part["get"] = howToGet;
  else
    part["path"] = found;
  return part;
}

struct SelfCheck {
  const char* name;
  bool passed;
};

/// Things without which results would be wrong or would differ from machine to machine.
std::vector<SelfCheck> selfChecks() {
  const Sphere ball(0.5);
  const Transform low, high{Mat3::identity(), {0, 0, 0.75}};
  const DistanceResult d = distance(ball, high, ball, low);
  volatile double tiny = 2.2250738585072014e-308;
  volatile double one = 1, big = 134217729;  // big^2 needs more than 53 bits: fma would keep them
  const double product = big * big - 18014398777917440.0 * one;
  return {
      {"two balls overlap by 0.25 m along z", d.distance == -0.25 && d.normal == Vec3{0, 0, 1}},
      {"rounding to nearest", std::fegetround() == FE_TONEAREST},
      {"denormal numbers are kept", tiny / 2 > 0},
      {"no fused multiply-add", product == 0},
  };
}

Json report() {
  Json parts = Json::array();
  parts.push_back(optionalPart("CUDA compiler", "nvcc", "compiling the kernels for the GPU",
                               "the CUDA toolkit of NVIDIA, then PATH"));
  parts.push_back(optionalPart("clang", "clang++", "fuzzing, determinism across compilers",
                               "apt-get install clang"));
  parts.push_back(
      optionalPart("clang-tidy", "clang-tidy", "make test", "apt-get install clang-tidy"));
  parts.push_back(optionalPart("ccache", "ccache", "faster rebuilds", "apt-get install ccache"));
  Json checks = Json::array();
  for (const SelfCheck& check : selfChecks())
    checks.push_back({{"name", check.name}, {"passed", check.passed}});
  return {
      {"tangere", TANGERE_VERSION_STRING},
      {"compiler", __VERSION__},
#ifdef NDEBUG
      {"assertions", false},
#else
      {"assertions", true},
#endif
      {"os", operatingSystem()},
      {"cpu", cpuName()},
      {"threads", std::thread::hardware_concurrency()},
      {"memory_gb", memoryGigabytes()},
      {"gpu", gpuName()},
      {"self_checks", checks},
      {"optional_parts", parts},
  };
}

void print(const Json& document) {
  for (const auto& [key, value] : document.items()) {
    if (key == "self_checks") {
      for (const Json& check : value)
        std::printf("%-14s %s: %s\n", "self check", check["name"].get<std::string>().c_str(),
                    check["passed"].get<bool>() ? "ok" : "FAILED");
    } else if (key == "optional_parts") {
      for (const Json& part : value)
        std::printf("%-14s %s (%s): %s\n", "optional", part["name"].get<std::string>().c_str(),
                    part["use"].get<std::string>().c_str(),
                    part["found"].get<bool>()
                        ? part["path"].get<std::string>().c_str()
                        : ("missing; get it: " + part["get"].get<std::string>()).c_str());
    } else if (value.is_string()) {
      std::printf("%-14s %s\n", key.c_str(), value.get<std::string>().c_str());
    } else if (value.is_number_float()) {
      std::printf("%-14s %.1f\n", key.c_str(), value.get<double>());
    } else {
      std::printf("%-14s %s\n", key.c_str(), value.dump().c_str());
    }
  }
}

void runDoctor(const CommonOptions& common) {
  const Json document = report();
  if (common.json)
    printJson(document);
  else
    print(document);
  for (const Json& check : document["self_checks"])
    if (!check["passed"].get<bool>())
      throw CommandError(kResourceLimit, "this machine or build fails the self check '" +
                                             check["name"].get<std::string>() + "'");
}

}  // namespace

void addDoctorCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand(
      "doctor", "Versions, machine, self checks, optional parts and how to get them");
  command->footer("Example:\n  tangere doctor --json");
  command->callback([&common] { runDoctor(common); });
}

}  // namespace tangere::cli
