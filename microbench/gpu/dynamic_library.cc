#include "microbench/gpu/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace roofcal::microbench {

void DynamicLibrary::Close::operator()(void* handle) const { dlclose(handle); }

Result<DynamicLibrary> DynamicLibrary::open(std::span<const std::string> names) {
  std::string reason;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return DynamicLibrary(name, handle);
    if (const char* said = dlerror()) reason = said;
  }
  return Error{ErrorCode::io, fmt::format("{} cannot be loaded ({})", fmt::join(names, " or "), reason)};
}

void* DynamicLibrary::address(const char* symbol) const { return dlsym(handle_.get(), symbol); }

}  // namespace roofcal::microbench
