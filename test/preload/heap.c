/* LD_PRELOAD: the most bytes that were allocated at a time, written into the file HEAP_PEAK at the end. */
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static atomic_long live, peak;

static void* counted(void* memory) {
    const long size = (long)malloc_usable_size(memory);
    const long now = atomic_fetch_add(&live, size) + size;
    long highest = atomic_load(&peak);
    while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now)) {
    }
    return memory;
}

static void forget(void* memory) {
    atomic_fetch_sub(&live, (long)malloc_usable_size(memory));
}

void* malloc(size_t size) {
    return counted(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
    return counted(__libc_calloc(count, size));
}

void* realloc(void* memory, size_t size) {
    forget(memory);
    return counted(__libc_realloc(memory, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
    return counted(__libc_memalign(alignment, size));
}

void* memalign(size_t alignment, size_t size) {
    return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void** memory, size_t alignment, size_t size) {
    *memory = counted(__libc_memalign(alignment, size));
    return *memory ? 0 : 12; /* ENOMEM */
}

void free(void* memory) {
    forget(memory);
    __libc_free(memory);
}

__attribute__((destructor)) static void tell(void) {
    const char* path = getenv("HEAP_PEAK");
    FILE* file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", atomic_load(&peak));
    fclose(file);
}
