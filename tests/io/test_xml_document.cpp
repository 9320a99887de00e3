// SPDX-License-Identifier: Apache-2.0
#include "io/xml_document.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tangere::io {
namespace {

/// "line:column: message" of the mistake; "accepted" when there is none.
std::string mistakeIn(const std::string& text, const XmlLimits& limits = {}) {
  try {
    (void)parseXml(text, "t.xml", limits);
    return "accepted";
  } catch (const XmlError& error) {
    return std::to_string(error.place().line) + ":" + std::to_string(error.place().column) + ": " +
           error.what();
  }
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
#define EXPECT_HAS(text, part) EXPECT_TRUE(has(text, part)) << (text)

TEST(XmlDocument, KeepsElementsAttributesAndTheirPlaces) {
  const XmlElement root = parseXml(
      "<?xml version=\"1.0\"?>\n<!-- first -->\n<robot name = 'a b'>\n  <link mass=\"1\"\n    "
      "size='2'/>\n</robot>\n<!-- last -->",
      "t.xml");
  EXPECT_EQ(root.name, "robot");
  EXPECT_EQ(*root.file, "t.xml");
  EXPECT_EQ(root.place.line, 3);
  EXPECT_EQ(root.place.column, 1);
  ASSERT_EQ(root.attributes.size(), 1u);
  EXPECT_EQ(root.attributes[0].value, "a b");
  ASSERT_EQ(root.children.size(), 1u);
  const XmlElement& link = root.children[0];
  EXPECT_EQ(link.place.column, 3);
  ASSERT_EQ(link.attributes.size(), 2u);
  EXPECT_EQ(link.attributes[1].name, "size");
  EXPECT_EQ(link.attributes[1].place.line, 5);
  EXPECT_EQ(link.attributes[1].place.column, 5);
  EXPECT_EQ(link.attributes[1].valuePlace.column, 11);
}

TEST(XmlDocument, ReplacesReferencesAndNothingElse) {
  const XmlElement root = parseXml("<a b='&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#233;'/>", "t");
  EXPECT_EQ(root.attributes[0].value, "<>&\"'AB\xc3\xa9");
}

TEST(XmlDocument, JoinsTextAndCdataAndTrimsBlanks) {
  const XmlElement root =
      parseXml("<a>\r\n  one <!-- no --> two<b/>&#32;<![CDATA[ <x> & ]]>  \n</a>", "t");
  EXPECT_EQ(root.text, "one  two  <x> & ");
  EXPECT_EQ(root.textPlace.line, 2);
  EXPECT_EQ(root.textPlace.column, 3);
  EXPECT_EQ(root.children.size(), 1u);
}

TEST(XmlDocument, MakesLineEndsAndTabsInAttributesBlanks) {
  EXPECT_EQ(parseXml("<a b='1\r\n2\t3\n4'/>", "t").attributes[0].value, "1 2 3 4");
}

TEST(XmlDocument, CountsColumnsInCharacters) {
  const std::string text = "<a \xc3\xa9=\"\xe2\x82\xac\" a='' a=''/>";
  EXPECT_EQ(mistakeIn(text), "1:15: found the attribute 'a' twice, first at 1:10");
}

TEST(XmlDocument, RefusesDocumentTypesAndEntities) {
  const std::string laughs =
      "<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]><a>&lol2;</a>";
  EXPECT_HAS(mistakeIn(laughs), "1:1: found '<', expected an element: document types and entities");
  EXPECT_HAS(mistakeIn("<a>\n<!ENTITY x SYSTEM 'file:///etc/passwd'></a>"), "2:1: ");
  EXPECT_HAS(mistakeIn("<a>&lol2;</a>"), "1:4: found the entity 'lol2'");
  EXPECT_HAS(mistakeIn("<a b='&x'/>"), "1:7: found '&' that begins no reference");
}

TEST(XmlDocument, RefusesReferencesToWhatIsNoCharacter) {
  for (const char* reference :
       {"&#0;", "&#xd800;", "&#x110000;", "&#99999999;", "&#;", "&#x;", "&#-1;", "&#1;", "&;"})
    EXPECT_HAS(mistakeIn(std::string("<a>") + reference + "</a>"), "1:4: found ");
  EXPECT_EQ(parseXml("<a>&#x10ffff;</a>", "t").text, "\xf4\x8f\xbf\xbf");
}

TEST(XmlDocument, SaysWhatIsMissingAndWhere) {
  EXPECT_EQ(mistakeIn("<a>\n <b>\n</a>"),
            "3:1: found '</a>', expected '</b>' for the element at 2:2");
  EXPECT_EQ(mistakeIn("<a>\n <b/>"),
            "2:6: found the end of the file, expected '</a>' for the "
            "element at 1:1");
  EXPECT_EQ(mistakeIn("<a b=1/>"), "1:6: found '1', expected a value in quotes");
  EXPECT_EQ(mistakeIn("<a b='1"),
            "1:8: found the end of the file, expected the quote that ends the "
            "value at 1:7");
  EXPECT_EQ(mistakeIn("<a b='1'c='2'/>"), "1:9: found 'c', expected an attribute, '>' or '/>'");
  EXPECT_EQ(mistakeIn("<a b='<'/>"),
            "1:7: found '<', expected a value without '<' (write &lt;), or "
            "the quote that ends it");
  EXPECT_EQ(mistakeIn("<a/><b/>"), "1:5: found '<', expected nothing after the root element");
  EXPECT_EQ(mistakeIn("<a/>x"), "1:5: found 'x', expected nothing after the root element");
  EXPECT_EQ(mistakeIn("< a/>"), "1:2: found ' ', expected the name of an element");
  EXPECT_EQ(mistakeIn("<a><!-- "),
            "1:9: found the end of the file, expected '-->' for the comment "
            "at 1:4");
  EXPECT_EQ(mistakeIn("<a"), "1:3: found the end of the file, expected an attribute, '>' or '/>'");
  EXPECT_EQ(mistakeIn("text"), "1:1: found 't', expected '<'");
  EXPECT_EQ(mistakeIn("  \n "), "0:0: no scene: the file is empty");
  EXPECT_EQ(mistakeIn("<!-- only -->"), "1:14: found the end of the file, expected an element");
}

TEST(XmlDocument, EveryTruncationOfAFileIsAMistakeWithAPlace) {
  const std::string text =
      "<?xml version='1.0'?><a b='1 &amp;'><!-- c --><d><![CDATA[x]]></d>text<e f=\"2\"/></a>";
  for (std::size_t n = 0; n < text.size(); ++n) {
    const std::string mistake = mistakeIn(text.substr(0, n));
    EXPECT_NE(mistake, "accepted") << n;
  }
  EXPECT_EQ(mistakeIn(text), "accepted");
}

TEST(XmlDocument, RefusesWhatIsNotUtf8) {
  EXPECT_HAS(mistakeIn(std::string("<a>\0</a>", 8)), "1:4: found a NUL byte at byte 3");
  EXPECT_HAS(mistakeIn("<a>\xff</a>"), "1:4: found a byte not of UTF-8 at byte 3");
  EXPECT_HAS(mistakeIn("\xff\xfe<\0a"), "1:1: found UTF-16");
  EXPECT_HAS(mistakeIn("<a>\x01</a>"), "1:4: ");
  EXPECT_EQ(mistakeIn("\xef\xbb\xbf<a/>"), "accepted");
  EXPECT_EQ(mistakeIn("<?xml version='1.0' encoding='ISO-8859-1'?><a/>"), "accepted");
  EXPECT_HAS(mistakeIn("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xc3\xa9</a>"),
             "1:1: found an encoding other than UTF-8");
}

TEST(XmlDocument, HasLimits) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "<a>";
  EXPECT_HAS(mistakeIn(deep), "1:385: found elements inside each other deeper than 128");
  EXPECT_HAS(mistakeIn("<a><b/><b/><b/></a>", {.maxElements = 3}), "1:12: found more than 3");
  EXPECT_HAS(mistakeIn("<a b='' c='' d=''/>", {.maxAttributes = 2}), "1:14: found more than 2");
  EXPECT_HAS(mistakeIn("<abcdef/>", {.maxBytes = 5}), "found 9 bytes, the limit is 5");
  EXPECT_HAS(mistakeIn("<" + std::string(300, 'x') + "/>"), "a name of at most 256 characters");
  // Size is a limit; nesting is what the text says.
  const auto isLimit = [](const std::string& text, const XmlLimits& limits) {
    try {
      (void)parseXml(text, "t", limits);
    } catch (const XmlError& error) {
      return error.isLimit();
    }
    ADD_FAILURE() << "accepted";
    return false;
  };
  EXPECT_FALSE(isLimit(deep, {}));
  EXPECT_TRUE(isLimit("<abcdef/>", {.maxBytes = 5}));
}

TEST(XmlDocument, ReportsWhatNobodyRead) {
  const XmlElement root = parseXml("<a x='1' y='2'><b z='3'/><c w='4'><d/></c></a>", "t");
  root.isRead = true;
  (void)root.attribute("y");
  ASSERT_NE(root.child("b"), nullptr);
  std::string unread;
  forEachUnread(root, [&](const XmlElement& element, const XmlAttribute* attribute) {
    unread += element.name + (attribute != nullptr ? "." + attribute->name : "") + " ";
  });
  EXPECT_EQ(unread, "a.x b.z c ");
}

}  // namespace
}  // namespace tangere::io
