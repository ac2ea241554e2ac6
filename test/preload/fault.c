/* LD_PRELOAD: a file system that fails, or a process that ends, at a chosen call on chosen files.
 *     FAULT=CALL:N:WHAT:PART     from the Nth CALL on a file whose path contains PART on, WHAT
 * CALL: open (for writing), write, fsync, close, rename, link, mkdir, flock, of either path.
 * WHAT: ENOSPC, EDQUOT, EIO, EROFS, ENOLCK: the call fails with it, and so do all after it; the
 *       first write that fails puts half of its bytes on disk, as on a disk that gets full;
 *       KILL: the process ends, in the middle of a write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char call_name[16], what[16], part[256];
static long first;
static atomic_long seen;

__attribute__((constructor)) static void read_setting(void) {
    const char* text = getenv("FAULT");
    if (text && sscanf(text, "%15[^:]:%ld:%15[^:]:%255[^\n]", call_name, &first, what, part) != 4) {
        fprintf(stderr, "FAULT=%s: expected CALL:N:WHAT:PART\n", text);
        _exit(2);
    }
}

static int error_number(void) {
    static const struct {
        const char* name;
        int number;
    } errors[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO}, {"EROFS", EROFS}};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; ++i)
        if (strcmp(what, errors[i].name) == 0) return errors[i].number;
    return ENOLCK;
}

/* How often the fault has been met with this call: 0, not yet. */
static long met(const char* call, const char* path) {
    if (strcmp(call, call_name) != 0 || !path || !strstr(path, part)) return 0;
    const long number = atomic_fetch_add(&seen, 1) + 1;
    return number < first ? 0 : number - first + 1;
}

/* Ends this process if that is WHAT, else says why the call fails. */
static void strike(void) {
    if (strcmp(what, "KILL") == 0) raise(SIGKILL);
    errno = error_number();
}

static int fails(const char* call, const char* path) {
    if (!met(call, path)) return 0;
    strike();
    return 1;
}

static const char* path_of(int file, char* buffer, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, buffer, size - 1);
    if (length < 0) return NULL;
    buffer[length] = '\0';
    return buffer;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_with(int (*real)(const char*, int, ...), const char* path, int flags, mode_t mode) {
    if ((flags & O_ACCMODE) != O_RDONLY && fails("open", path)) return -1;
    return real(path, flags, mode);
}

#define OPEN(name)                                          \
    int name(const char* path, int flags, ...) {            \
        va_list more;                                       \
        va_start(more, flags);                              \
        const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0; \
        va_end(more);                                       \
        return open_with(REAL(name), path, flags, mode);    \
    }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void* bytes, size_t count) {
    char buffer[4096];
    const long times = *call_name ? met("write", path_of(file, buffer, sizeof buffer)) : 0;
    if (times == 0) return REAL(write)(file, bytes, count);
    const size_t half = times == 1 && count > 1 ? count / 2 : 0;
    const ssize_t written = half > 0 ? REAL(write)(file, bytes, half) : 0;
    strike();
    return written > 0 ? written : -1;
}

#define ON_FILE(name, parameters, arguments)                                       \
    int name parameters {                                                          \
        char buffer[4096];                                                         \
        if (*call_name && fails(#name, path_of(file, buffer, sizeof buffer))) {    \
            if (strcmp(#name, "close") == 0) REAL(close)(file);                    \
            errno = error_number();                                                \
            return -1;                                                             \
        }                                                                          \
        return REAL(name) arguments;                                               \
    }
ON_FILE(fsync, (int file), (file))
ON_FILE(close, (int file), (file))
ON_FILE(flock, (int file, int operation), (file, operation))

int rename(const char* from, const char* to) {
    return fails("rename", to) ? -1 : REAL(rename)(from, to);
}

int link(const char* from, const char* to) {
    return fails("link", to) ? -1 : REAL(link)(from, to);
}

int mkdir(const char* path, mode_t mode) {
    return fails("mkdir", path) ? -1 : REAL(mkdir)(path, mode);
}
