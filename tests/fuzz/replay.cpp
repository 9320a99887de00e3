// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target on files instead of on what a fuzzer makes up: replay FOLDER_OR_FILE...
// Every file is also tried cut short, which is where readers break.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i]))
      files.emplace_back(argv[i]);
    else
      for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
        files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  int runs = 0;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 64);
    LLVMFuzzerTestOneInput(data, bytes.size());
    for (std::size_t size = 0; size < bytes.size(); size += step, ++runs)
      LLVMFuzzerTestOneInput(data, size);
    ++runs;
  }
  std::printf("%d inputs from %zu files\n", runs, files.size());
  return runs > 0 ? 0 : 1;
}
