/* cudaccl - CUDA backend: the functions of CUDA that it calls
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define LINKED(result, name, parameters, arguments) .name = name,

CclCudaApi ccl_cuda_api = { CCL_CUDA_LINKED_FUNCTIONS (LINKED) };

/* The driver's library comes with the driver, so nothing links with it. Functions of the program
 * itself take precedence, as with the linker. */
static void
find (void *library, const char *name, void *pointer)
{
  void *symbol = dlsym (RTLD_DEFAULT, name);

  if (!symbol && library)
    symbol = dlsym (library, name);
  memcpy (pointer, &symbol, sizeof symbol);
}

#define FIND(result, name, parameters, arguments) \
  if (!ccl_cuda_api.name)                         \
    find (library, #name, &ccl_cuda_api.name);

static void
find_driver (void)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

  CCL_CUDA_DRIVER_FUNCTIONS (FIND)
  CCL_CUDA_OPTIONAL_FUNCTIONS (FIND)
}

void
ccl_cuda_api_load (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, find_driver);
}
