/*
 * Gasell inside a C program: an engine, sessions, text in, results out.
 *
 *   gasell_engine* engine = NULL;
 *   gasell_session* session = NULL;
 *   gasell_value* sum = NULL;
 *   gasell_engine_create(NULL, &engine, NULL);
 *   gasell_session_create(engine, &session, NULL);
 *   gasell_bind_array(session, "x", data, GASELL_F64, 1, &n, 0, NULL, NULL, NULL);
 *   gasell_evaluate(session, "(x * 2 + 1).sum()", NULL, &sum, NULL);
 *
 * Functions return a status; where it is not GASELL_OK they have given nothing and, when `error` is not NULL, leave an error object there,
 * to be freed with gasell_error_free. Texts are UTF-8. No function throws or ends the process; NULL where an object is needed is
 * GASELL_INVALID_ARGUMENT.
 *
 * Threads: an engine, its sessions and their values belong to one thread at a time: a call while another thread is in one is
 * GASELL_INVALID_ARGUMENT. Only gasell_engine_interrupt may be called from any thread, and from a signal handler. Programs that want to
 * compute from several threads at once make an engine for each.
 *
 * Lifetimes: an engine outlives its sessions, a session its values. What accessors return lives as long as the object it was read from.
 */
#ifndef GASELL_GASELL_H
#define GASELL_GASELL_H

#include <stddef.h>
#include <stdint.h>

#if defined(GASELL_BUILDING_LIBRARY)
#define GASELL_API __attribute__((visibility("default")))
#else
#define GASELL_API
#endif

#ifdef __cplusplus
#define GASELL_NOEXCEPT noexcept
extern "C" {
#else
#define GASELL_NOEXCEPT
#endif

typedef struct gasell_engine gasell_engine;   /* devices, kernel cache, options */
typedef struct gasell_session gasell_session; /* global names and what they hold */
typedef struct gasell_value gasell_value;     /* one result */
typedef struct gasell_error gasell_error;

typedef enum gasell_status {
  GASELL_OK = 0,
  GASELL_SCRIPT_ERROR = 1,     /* the script raised, or does not parse */
  GASELL_INVALID_ARGUMENT = 2, /* this call is wrong */
  GASELL_INTERRUPTED = 3,      /* gasell_engine_interrupt was called; the session is usable */
  GASELL_EXIT = 4,             /* the script called exit(); see exit_code of gasell_error_info */
  GASELL_ENVIRONMENT = 5,      /* memory, files, devices */
  GASELL_LIMITATION = 6,       /* known, not implemented in this version */
  GASELL_INTERNAL = 7          /* a bug of Gasell */
} gasell_status;

/* Any number may be passed for one; in C++ that takes an underlying type, the one it has in C. */
#ifdef __cplusplus
typedef enum gasell_dtype : unsigned int {
#else
typedef enum gasell_dtype {
#endif
  GASELL_BOOL = 0, /* one byte, 0 or 1 */
  GASELL_I8,
  GASELL_I16,
  GASELL_I32,
  GASELL_I64,
  GASELL_U8,
  GASELL_U16,
  GASELL_U32,
  GASELL_U64,
  GASELL_F32,
  GASELL_F64,
  GASELL_C64, /* real and imaginary part, interleaved */
  GASELL_C128
} gasell_dtype;

typedef enum gasell_kind {
  GASELL_KIND_NONE = 0,
  GASELL_KIND_BOOLEAN, /* these four also for NumPy's scalars, which can be read as arrays of rank 0 too */
  GASELL_KIND_INTEGER,
  GASELL_KIND_FLOAT,
  GASELL_KIND_COMPLEX,
  GASELL_KIND_STRING,
  GASELL_KIND_ARRAY,
  GASELL_KIND_TUPLE,
  GASELL_KIND_LIST,
  GASELL_KIND_OTHER /* read it as text */
} gasell_kind;

/* ---- the library ---- */
GASELL_API const char* gasell_version(void) GASELL_NOEXCEPT; /* "0.1.0" */
/* "float64"; NULL for a number that is no dtype. */
GASELL_API const char* gasell_dtype_name(gasell_dtype dtype) GASELL_NOEXCEPT;
/* Bytes of an element; 0 for a number that is no dtype. */
GASELL_API size_t gasell_dtype_size(gasell_dtype dtype) GASELL_NOEXCEPT;

/* ---- errors ---- */
typedef struct gasell_error_info {
  size_t struct_size; /* sizeof(gasell_error_info), set before the call */
  gasell_status status;
  const char* kind;     /* Python's exception name: "ValueError" */
  const char* message;  /* one sentence */
  const char* source;   /* the name of the text it happened in, or "" */
  int line, column;     /* from 1; 0 where there is no place */
  const char* hint;     /* the remedy, or "" */
  const char* rendered; /* all of it with the source line and a caret, several lines */
  int exit_code;        /* with GASELL_EXIT */
} gasell_error_info;
GASELL_API gasell_status gasell_error_describe(const gasell_error* error, gasell_error_info* info) GASELL_NOEXCEPT;
GASELL_API void gasell_error_free(gasell_error* error) GASELL_NOEXCEPT;

/* ---- engines ---- */
typedef struct gasell_engine_options {
  size_t struct_size;          /* sizeof(gasell_engine_options) */
  int threads;                 /* 0: all cores */
  int64_t memory;              /* bytes that arrays may take; 0: three quarters of the machine's */
  const char* device;          /* "auto", "cpu", "gpu", "gpu:0,2", "sim:4"; NULL: auto */
  int no_fuse;                 /* 1: every operation is a kernel of its own */
  int64_t chunk;               /* elements a task works on, at most; 0: chosen */
  int no_cache;                /* 1: no kernel cache on disk */
  const char* cache_directory; /* NULL: the user's */
} gasell_engine_options;
/* NULL options, and fields that are 0: the environment's values (GASELL_THREADS, ...), then the defaults. */
GASELL_API gasell_status gasell_engine_create(const gasell_engine_options* options, gasell_engine** engine,
                                              gasell_error** error) GASELL_NOEXCEPT;
GASELL_API void gasell_engine_free(gasell_engine* engine) GASELL_NOEXCEPT;
/* Stops what the engine runs within 100 ms: the call that waits for it returns GASELL_INTERRUPTED. Where nothing runs, nothing happens:
 * gasell_evaluate begins by forgetting earlier interrupts. */
GASELL_API void gasell_engine_interrupt(gasell_engine* engine) GASELL_NOEXCEPT;

/* ---- sessions ---- */
GASELL_API gasell_status gasell_session_create(gasell_engine* engine, gasell_session** session, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API void gasell_session_free(gasell_session* session) GASELL_NOEXCEPT;
/* What scripts print goes to `write` (NULL: to stdout, as at first). The text is not terminated. `write` must not throw or call into this
 * session. */
typedef void (*gasell_write)(void* context, const char* text, size_t length);
GASELL_API gasell_status gasell_session_set_output(gasell_session* session, gasell_write write, void* context,
                                                   gasell_error** error) GASELL_NOEXCEPT;
/* Runs statements. Where `result` is not NULL it becomes the value of the last statement if that is an expression, else None; free it with
 * gasell_value_free. `source_name` names the text in errors (NULL: "<host>"). Arrays stay lazy until they are read. */
GASELL_API gasell_status gasell_evaluate(gasell_session* session, const char* text, const char* source_name, gasell_value** result,
                                         gasell_error** error) GASELL_NOEXCEPT;
/* The value of a global name; GASELL_SCRIPT_ERROR (NameError) where there is none. */
GASELL_API gasell_status gasell_get_global(gasell_session* session, const char* name, gasell_value** result,
                                           gasell_error** error) GASELL_NOEXCEPT;

/* ---- giving values to a session ---- */
#define GASELL_WRITABLE 1u /* scripts may write into the memory; without it a write is a ValueError, as in NumPy */
typedef void (*gasell_release)(void* context);
/* Binds `name` to an array over the caller's memory: C order, native byte order, aligned to the element; nothing is copied. The memory must
 * stay valid, and unchanged by others while a script may read it, until `release` (may be NULL) is called: once, when the last array over
 * it is gone, at the latest in gasell_session_free. When the call fails, `release` is not called. */
GASELL_API gasell_status gasell_bind_array(gasell_session* session, const char* name, void* data, gasell_dtype dtype, int rank,
                                           const int64_t* shape, unsigned flags, gasell_release release, void* context,
                                           gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_bind_boolean(gasell_session* session, const char* name, int value, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_bind_integer(gasell_session* session, const char* name, int64_t value,
                                             gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_bind_float(gasell_session* session, const char* name, double value, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_bind_string(gasell_session* session, const char* name, const char* text, size_t length,
                                            gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_bind_value(gasell_session* session, const char* name, const gasell_value* value,
                                           gasell_error** error) GASELL_NOEXCEPT;

/* ---- reading values ---- */
GASELL_API gasell_kind gasell_value_kind(const gasell_value* value) GASELL_NOEXCEPT; /* GASELL_KIND_NONE for NULL */
/* Convert as the script's bool(), int(), float(), complex() would; arrays of one element too, which computes them. */
GASELL_API gasell_status gasell_value_boolean(const gasell_value* value, int* result, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_value_integer(const gasell_value* value, int64_t* result, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_value_float(const gasell_value* value, double* result, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_value_complex(const gasell_value* value, double* real, double* imaginary,
                                              gasell_error** error) GASELL_NOEXCEPT;
/* str(value): `length` bytes and a terminating 0 (`length` may be NULL). Valid until the next such call on this value. */
GASELL_API gasell_status gasell_value_text(gasell_value* value, const char** text, size_t* length, gasell_error** error) GASELL_NOEXCEPT;
/* Items of a tuple or a list. */
GASELL_API gasell_status gasell_value_length(const gasell_value* value, size_t* length, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_value_item(const gasell_value* value, size_t index, gasell_value** item,
                                           gasell_error** error) GASELL_NOEXCEPT;

typedef struct gasell_array {
  size_t struct_size; /* sizeof(gasell_array), set before the call */
  gasell_dtype dtype;
  int rank;
  const int64_t* shape; /* `rank` extents */
  int64_t size;         /* their product */
  const void* data;     /* C order, native byte order; NULL from gasell_value_describe */
} gasell_array;
/* The dtype and shape of an array, without computing it. */
GASELL_API gasell_status gasell_value_describe(gasell_value* value, gasell_array* array, gasell_error** error) GASELL_NOEXCEPT;
/* Computes an array and gives its elements. They stay valid while the value lives, and unchanged while no script writes into the array. */
GASELL_API gasell_status gasell_value_array(gasell_value* value, gasell_array* array, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API void gasell_value_free(gasell_value* value) GASELL_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
