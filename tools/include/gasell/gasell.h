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
 * Threads: sessions of one engine may run at the same time, each in a thread; they share the cores, the memory and what was compiled. A
 * session, its values and its functions belong to one thread at a time: a call while another thread is in one is GASELL_INVALID_ARGUMENT.
 * From any thread, at any time: gasell_engine_interrupt and gasell_session_interrupt (from a signal handler too), gasell_value_free, and
 * calls of functions that gasell_function_is_direct says are direct. Callbacks run on the thread of the call.
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
typedef struct gasell_function gasell_function; /* a function of a script, for arguments of given types */

typedef enum gasell_status {
  GASELL_OK = 0,
  GASELL_SCRIPT_ERROR = 1,     /* the script raised, or does not parse */
  GASELL_INVALID_ARGUMENT = 2, /* this call is wrong */
  GASELL_INTERRUPTED = 3,      /* gasell_engine_interrupt was called; the session is usable */
  GASELL_EXIT = 4,             /* the script called exit(); see exit_code of gasell_error_info */
  GASELL_ENVIRONMENT = 5,      /* memory, files, devices */
  GASELL_LIMITATION = 6,       /* known, not implemented in this version */
  GASELL_INTERNAL = 7,         /* a bug of Gasell */
  GASELL_LIMIT_EXCEEDED = 8    /* the session's time or output limit; the session is usable */
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
  GASELL_KIND_OTHER, /* read it as text */
  GASELL_KIND_HANDLE,
  GASELL_KIND_DICT,
  GASELL_KIND_FRAME, /* a DataFrame */
  GASELL_KIND_SERIES,
  GASELL_KIND_FUNCTION
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
  const char* kind;         /* Python's exception name: "ValueError" */
  const char* message;      /* one sentence */
  const char* source;       /* the name of the text it happened in, or "" */
  int line, column;         /* from 1; 0 where there is no place */
  const char* hint;         /* the remedy, or "" */
  const char* rendered;     /* all of it with the source line and a caret, several lines */
  int exit_code;            /* with GASELL_EXIT */
  int end_line, end_column; /* behind the last character of the place */
  /* All of it as JSON: {"status": 1, "kind": "ValueError", "message": …, "hint": …, "source": …, "line": …, "column": …, "end_line": …,
   * "end_column": …, "calls": [{"source": …, "line": …, "column": …, "text": …}, …], "exit_code": 0}. */
  const char* json;
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

/* What part of the computation that runs is done, 0 to 1; -1 where none runs. Where sessions compute at the same time it is
 * that of one of them. The first call begins to look: computations that began before it are not told of. From any thread. */
GASELL_API double gasell_engine_progress(gasell_engine* engine) GASELL_NOEXCEPT;

/* ---- sessions ---- */
GASELL_API gasell_status gasell_session_create(gasell_engine* engine, gasell_session** session, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API void gasell_session_free(gasell_session* session) GASELL_NOEXCEPT;
typedef struct gasell_session_options {
  size_t struct_size; /* sizeof(gasell_session_options) */
  /* 1: scripts reach nothing outside of the session but what `allow` grants and what the program binds. */
  int sandbox;
  /* Grants, NULL behind the last (NULL: none): "read:FOLDER", "write:FOLDER" (reading too), "env", "clock", "network", "plugins" (readers
   * of Parquet, ORC and HDF5 files), "unchecked" (boundscheck=False), "raw-code" (CUDA C++). Links and ".." lead nowhere else. */
  const char* const* allow;
  int64_t memory; /* bytes of arrays that the session may hold at once; 0: what the engine has */
  int64_t output; /* bytes that scripts may print in one call; 0: no limit */
  double seconds; /* that one call may take; 0: no limit. It ends within 100 ms, whatever the script catches. */
  int recursion;  /* calls within each other; 0: 1000 */
} gasell_session_options;
/* NULL options: those of gasell_session_create. */
GASELL_API gasell_status gasell_session_create_with(gasell_engine* engine, const gasell_session_options* options, gasell_session** session,
                                                    gasell_error** error) GASELL_NOEXCEPT;
/* Seconds that each of the following calls may take; 0: no limit. */
GASELL_API gasell_status gasell_session_set_seconds(gasell_session* session, double seconds, gasell_error** error) GASELL_NOEXCEPT;
/* Ends what the session runs within 100 ms, whatever the script catches: the call returns GASELL_INTERRUPTED. Where nothing runs, nothing
 * happens. */
GASELL_API void gasell_session_interrupt(gasell_session* session) GASELL_NOEXCEPT;
/* Where it is set, what runs is ended like that, and so are the calls that begin from then on, until it is set to 0: a token of
 * cancellation. From any thread. */
GASELL_API void gasell_session_set_cancelled(gasell_session* session, int cancelled) GASELL_NOEXCEPT;
/* What scripts print goes to `write` (NULL: to stdout, as at first). The text is not terminated. `write` must not throw or call into this
 * session. */
typedef void (*gasell_write)(void* context, const char* text, size_t length);
GASELL_API gasell_status gasell_session_set_output(gasell_session* session, gasell_write write, void* context,
                                                   gasell_error** error) GASELL_NOEXCEPT;
/* What scripts write to sys.stderr and what warns goes to `write` (NULL: as at first, to stderr, or in a sandbox to where the output goes).
 * It counts towards the limit of output, and comes from one thread at a time: that of the call, or one that works for it. */
GASELL_API gasell_status gasell_session_set_error_output(gasell_session* session, gasell_write write, void* context,
                                                         gasell_error** error) GASELL_NOEXCEPT;
/* What the session's engine says of itself goes to `log` (NULL: to nobody, and warnings to stderr), from this level on; levels are those of
 * Python's logging: 30, GPUs that were lost; 20, calls that a limit or the program ended; 10, each kernel that ran, with its time, which
 * makes every computation wait for its end. The text is a line, without its end, and is not terminated. `log` must not throw or call into
 * this session; what works for the call may call it from other threads. */
typedef void (*gasell_log)(void* context, int level, const char* text, size_t length);
GASELL_API gasell_status gasell_session_set_log(gasell_session* session, int level, gasell_log log, void* context,
                                                gasell_error** error) GASELL_NOEXCEPT;
/* What input() gets: `read` writes a line of at most `room` bytes to `line` and returns its length; -1 at the end of the input. NULL:
 * stdin. In a sandbox without a reader input() finds the end. */
typedef int64_t (*gasell_read_line)(void* context, const char* prompt, char* line, int64_t room);
GASELL_API gasell_status gasell_session_set_input(gasell_session* session, gasell_read_line read, void* context,
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
/* The same with strides, in elements, which may be negative: `data` is the address of element (0, ..., 0). Where it is WRITABLE the
 * elements must lie as a view of NumPy's would; GASELL_LIMITATION else. */
GASELL_API gasell_status gasell_bind_view(gasell_session* session, const char* name, void* data, gasell_dtype dtype, int rank,
                                          const int64_t* shape, const int64_t* strides, unsigned flags, gasell_release release,
                                          void* context, gasell_error** error) GASELL_NOEXCEPT;
/* An object of the program that scripts hand on and cannot look into. `type_name` is what they see, and what gasell_value_handle asks for.
 * `release` (may be NULL) is called as for arrays. */
GASELL_API gasell_status gasell_bind_handle(gasell_session* session, const char* name, void* object, const char* type_name,
                                            gasell_release release, void* context, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_value_handle(const gasell_value* value, const char* type_name, void** object,
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
/* Computes an array and gives it as it lies in memory, without a copy. */
typedef struct gasell_view {
  void* data;             /* of element (0, ..., 0) */
  const int64_t* shape;   /* one an axis */
  const int64_t* strides; /* in elements; NULL: C order, of arguments */
} gasell_view;
GASELL_API gasell_status gasell_value_view(gasell_value* value, gasell_dtype* dtype, int* rank, gasell_view* view,
                                           gasell_error** error) GASELL_NOEXCEPT;
GASELL_API void gasell_value_free(gasell_value* value) GASELL_NOEXCEPT;

/* ---- lists, dicts and times ---- */
/* JSON as None, bools, numbers, texts, lists and dicts; INVALID_ARGUMENT where it is none. */
GASELL_API gasell_status gasell_bind_json(gasell_session* session, const char* name, const char* text, size_t length,
                                          gasell_error** error) GASELL_NOEXCEPT;
/* And back; arrays are lists, computed. TypeError for what JSON has not. Valid as the text of gasell_value_text. */
GASELL_API gasell_status gasell_value_json(gasell_value* value, const char** text, size_t* length, gasell_error** error) GASELL_NOEXCEPT;
/* value["key"]: of a dict, a DataFrame's column. */
GASELL_API gasell_status gasell_value_lookup(const gasell_value* value, const char* key, gasell_value** item,
                                             gasell_error** error) GASELL_NOEXCEPT;
/* A Timestamp of so many nanoseconds since 1970-01-01 UTC; and the nanoseconds of a Timestamp or datetime, or of a Timedelta. */
GASELL_API gasell_status gasell_bind_time(gasell_session* session, const char* name, int64_t nanoseconds,
                                          gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_value_time(const gasell_value* value, int64_t* nanoseconds, gasell_error** error) GASELL_NOEXCEPT;

/* ---- code that is being written ---- */
/* What can stand at the cursor, a number of bytes of the text, as JSON: {"begin": …, "candidates": ["append", …], "closing": "']"}:
 * candidates stand in the place of the text from `begin` to the cursor, `closing` comes behind the one that is chosen. Runs no function of
 * a script. The text lives until the next such call on the session. */
GASELL_API gasell_status gasell_complete(gasell_session* session, const char* text, size_t length, size_t cursor, const char** json,
                                         gasell_error** error) GASELL_NOEXCEPT;
/* What is known of the name or the expression around the cursor: its type, signature, description; with `detail` 1 the text of a function.
 * Empty where there is nothing. Likewise. */
GASELL_API gasell_status gasell_inspect(gasell_session* session, const char* text, size_t length, size_t cursor, int detail,
                                        const char** description, gasell_error** error) GASELL_NOEXCEPT;
/* Whether statements are whole: 1; 0 where more lines are wanted; -1 where the syntax is wrong. */
GASELL_API int gasell_is_complete(const char* text, size_t length) GASELL_NOEXCEPT;

/* ---- functions of scripts ---- */
/* The function that `name` is, for arguments and a result of the types of `signature`, which are checked, and compiled, now.
 *
 * A signature is Numba's text of one: "float64(float64[::1], float64)", "void(const float32[:, :], float32[:, :])". Types are the dtypes'
 * names; of arrays [::1] (one axis, contiguous), [:, ::1] (C order), [:], [:, :], … (any strides), with "const" where the function may only
 * read; "str" of texts (arguments: const char*, terminated) and "object" (a gasell_value*; as a result one to be freed, and lazy). A result
 * "float64[:]" is computed into memory of the caller's, of just that shape; a result "auto" is whatever it is (gasell_function_result).
 *
 * @njit functions of numbers and arrays that return a number or None are called directly (gasell_function_is_direct): a call takes no
 * memory of the heap, makes no thread, and may be made from any threads at once. All others, @vectorize, @stencil, @cuda.jit and
 * interpreted ones, are called in the session; arrays that they write must be C-contiguous, or are copied back. The function is freed
 * before its session. */
GASELL_API gasell_status gasell_get_function(gasell_session* session, const char* name, const char* signature, gasell_function** function,
                                             gasell_error** error) GASELL_NOEXCEPT;
/* The function that the last def of `text` makes, in a session of its own. Where it is not decorated it is compiled as by @njit, unless
 * the signature has an object or a text. */
GASELL_API gasell_status gasell_compile(gasell_engine* engine, const char* text, const char* signature, gasell_function** function,
                                        gasell_error** error) GASELL_NOEXCEPT;
/* `arguments`: one address an argument: of a number of its dtype, of a gasell_view, of a const char*, or of a gasell_value*. `result`: the
 * address of a number, of a gasell_value*, or of a gasell_view; NULL where it is not wanted, or void. */
GASELL_API gasell_status gasell_function_call(const gasell_function* function, void* result, void* const* arguments,
                                              gasell_error** error) GASELL_NOEXCEPT;
GASELL_API int gasell_function_is_direct(const gasell_function* function) GASELL_NOEXCEPT;
GASELL_API void gasell_function_free(gasell_function* function) GASELL_NOEXCEPT;

/* ---- values that are made, looked into and called ---- */
/* Values of a session without a name in it; each is freed with gasell_value_free. */
GASELL_API gasell_status gasell_make_none(gasell_session* session, gasell_value** value, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_make_boolean(gasell_session* session, int number, gasell_value** value,
                                             gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_make_integer(gasell_session* session, int64_t number, gasell_value** value,
                                             gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_make_float(gasell_session* session, double number, gasell_value** value,
                                           gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_make_complex(gasell_session* session, double real, double imaginary, gasell_value** value,
                                             gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_make_string(gasell_session* session, const char* text, size_t length, gasell_value** value,
                                            gasell_error** error) GASELL_NOEXCEPT;
/* A list (is_tuple 0) or a tuple of values of this session. */
GASELL_API gasell_status gasell_make_sequence(gasell_session* session, int is_tuple, gasell_value* const* items, size_t count,
                                              gasell_value** value, gasell_error** error) GASELL_NOEXCEPT;
/* A dict; a later key that equals an earlier one takes its place. */
GASELL_API gasell_status gasell_make_dict(gasell_session* session, gasell_value* const* keys, gasell_value* const* items, size_t count,
                                          gasell_value** value, gasell_error** error) GASELL_NOEXCEPT;
/* slice(start, stop, step); NULL for None. */
GASELL_API gasell_status gasell_make_slice(gasell_session* session, const gasell_value* start, const gasell_value* stop,
                                           const gasell_value* step, gasell_value** value, gasell_error** error) GASELL_NOEXCEPT;
/* As gasell_bind_view, gasell_bind_arrow_stream and gasell_bind_dlpack. */
GASELL_API gasell_status gasell_make_view(gasell_session* session, void* data, gasell_dtype dtype, int rank, const int64_t* shape,
                                          const int64_t* strides, unsigned flags, gasell_release release, void* context,
                                          gasell_value** value, gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_make_frame(gasell_session* session, struct ArrowArrayStream* stream, gasell_value** value,
                                           gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_make_tensor(gasell_session* session, struct DLManagedTensorVersioned* tensor, gasell_value** value,
                                            gasell_error** error) GASELL_NOEXCEPT;
/* Another handle of the same value. */
GASELL_API gasell_status gasell_value_share(const gasell_value* value, gasell_value** shared, gasell_error** error) GASELL_NOEXCEPT;
/* A module by the name that import takes: "numpy.linalg". */
GASELL_API gasell_status gasell_import_module(gasell_session* session, const char* name, gasell_value** module,
                                              gasell_error** error) GASELL_NOEXCEPT;
/* type(value).__name__; lives as long as the value. */
GASELL_API gasell_status gasell_value_type(const gasell_value* value, const char** name, gasell_error** error) GASELL_NOEXCEPT;
/* 1 for arrays and NumPy's scalars, which have a dtype (gasell_value_describe); 0 for all others. */
GASELL_API int gasell_value_has_dtype(const gasell_value* value) GASELL_NOEXCEPT;
/* value.name; AttributeError as the script's. */
GASELL_API gasell_status gasell_value_attribute(const gasell_value* value, const char* name, gasell_value** attribute,
                                                gasell_error** error) GASELL_NOEXCEPT;
/* callee(*arguments, **keywords): a function, a method, a type. `names` and `keywords` have `keyword_count` entries. Arrays of the result
 * stay lazy. */
GASELL_API gasell_status gasell_value_call(const gasell_value* callee, gasell_value* const* arguments, size_t count,
                                           const char* const* names, gasell_value* const* keywords, size_t keyword_count,
                                           gasell_value** result, gasell_error** error) GASELL_NOEXCEPT;
/* gasell_get_function of a function that is a value. */
GASELL_API gasell_status gasell_value_function(const gasell_value* callee, const char* signature, gasell_function** function,
                                               gasell_error** error) GASELL_NOEXCEPT;
/* What gasell_function_call writes: GASELL_KIND_NONE (nothing), GASELL_KIND_ARRAY (into a view), GASELL_KIND_STRING or GASELL_KIND_OTHER (a
 * gasell_value*), or the kind of a number, whose dtype is then in `dtype` (may be NULL). Of a signature whose result is "auto" it is what
 * the function, compiled for these arguments, returns: a number or nothing where it is called directly, else a gasell_value*. */
GASELL_API gasell_status gasell_function_result(const gasell_function* function, gasell_kind* kind, gasell_dtype* dtype,
                                                gasell_error** error) GASELL_NOEXCEPT;

/* ---- functions of the program ---- */
/* What went wrong in a callback: the exception that the script gets. Texts are cut where they are too long. */
typedef struct gasell_failure {
  char kind[64]; /* "ValueError"; empty: RuntimeError */
  char message[960];
} gasell_failure;
/* Arguments and result as those of gasell_function_call. Returns 0, or anything else where it failed. It must not throw. */
typedef int (*gasell_callback)(void* context, void* result, void* const* arguments, gasell_failure* failure);
/* Defines `name` for scripts. In interpreted code, a function of numbers takes arrays too: it is called for each element. @njit functions
 * may call functions of numbers; these are then called by their address, on whichever thread runs the code. `release` (may be NULL) is
 * called once, in gasell_session_free at the latest. */
GASELL_API gasell_status gasell_define(gasell_session* session, const char* name, const char* signature, gasell_callback callback,
                                       gasell_release release, void* context, gasell_error** error) GASELL_NOEXCEPT;

/* A function that takes any arguments, positional ones and keywords, whose handles are its own: it frees them, or hands them on. It leaves
 * a handle in `result` that is the session's from then on, or NULL for None, and returns 0; or anything else where it failed. */
typedef int (*gasell_callable)(void* context, gasell_value* const* arguments, size_t count, const char* const* names,
                               gasell_value* const* keywords, size_t keyword_count, gasell_value** result, gasell_failure* failure);
/* It as a value. `name` is what scripts see. `release` (may be NULL) is called once, in gasell_session_free at the latest. */
GASELL_API gasell_status gasell_make_function(gasell_session* session, const char* name, gasell_callable callable, gasell_release release,
                                              void* context, gasell_value** value, gasell_error** error) GASELL_NOEXCEPT;

/* ---- other programs' memory: Arrow's C data, stream and device interfaces, DLPack ---- */
struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;
struct ArrowDeviceArray;
struct DLManagedTensorVersioned;
/* Moves a table into `name`, a DataFrame: what was given is released, and is marked so. Numbers, booleans, texts, dictionaries of texts,
 * dates, timestamps and durations; GASELL_LIMITATION for others. */
GASELL_API gasell_status gasell_bind_arrow(gasell_session* session, const char* name, struct ArrowSchema* schema, struct ArrowArray* array,
                                           gasell_error** error) GASELL_NOEXCEPT;
GASELL_API gasell_status gasell_bind_arrow_stream(gasell_session* session, const char* name, struct ArrowArrayStream* stream,
                                                  gasell_error** error) GASELL_NOEXCEPT;
/* A DataFrame or a Series, computed, as a stream of arrays of records. Memory is lent where its layout is Arrow's, and lives as long as the
 * arrays, which may outlive the session but not the engine. */
GASELL_API gasell_status gasell_value_arrow_stream(gasell_value* value, struct ArrowArrayStream* stream,
                                                   gasell_error** error) GASELL_NOEXCEPT;
/* Binds `name` to the tensor's memory, which is the session's from now on: its deleter is called as `release` is. Of the host's memory, or
 * of a GPU that the engine computes on (as gasell_make_device_view, behind what the default stream was given). */
GASELL_API gasell_status gasell_bind_dlpack(gasell_session* session, const char* name, struct DLManagedTensorVersioned* tensor,
                                            gasell_error** error) GASELL_NOEXCEPT;
/* An array, computed, where it lies; call the tensor's deleter when it is no longer used. It may outlive the session but not the engine. */
GASELL_API gasell_status gasell_value_dlpack(gasell_value* value, struct DLManagedTensorVersioned** tensor,
                                             gasell_error** error) GASELL_NOEXCEPT;

/* The same in the memory of a device, by DLPack's numbers: 1 is the host's, 2 that of the NVIDIA GPU of this number, 12 that of a simulated
 * one (device "sim:n"). The array is computed, and moved there where it is not; all streams may use it at once. */
GASELL_API gasell_status gasell_value_dlpack_on(gasell_value* value, int device_type, int device, struct DLManagedTensorVersioned** tensor,
                                                gasell_error** error) GASELL_NOEXCEPT;

/* ---- memory of GPUs ---- */
/* An array over memory of a GPU that the engine computes on, as gasell_make_view makes one of the host's; scripts may not write into it.
 * `data` is an address of the GPU's, in the CUDA driver's primary context; `device` its number, -1: to be found by the address. The
 * elements are read when what `stream` was given so far is done: 0, it is done; 1, the default stream; 2, that of this thread; else a
 * CUstream. The memory must stay, and not be changed, until `release`. GASELL_INVALID_ARGUMENT for memory of other devices, or of none. */
GASELL_API gasell_status gasell_make_device_view(gasell_session* session, void* data, gasell_dtype dtype, int rank, const int64_t* shape,
                                                 const int64_t* strides, int device, uint64_t stream, gasell_release release, void* context,
                                                 gasell_value** value, gasell_error** error) GASELL_NOEXCEPT;
/* Where the elements of an array are in the memory of this GPU, to read: computed, moved there where they are not, and done on all streams.
 * They stay there until the next such call on this value, or until it is freed. */
GASELL_API gasell_status gasell_value_device_view(gasell_value* value, int device, gasell_dtype* dtype, int* rank, gasell_view* view,
                                                  gasell_error** error) GASELL_NOEXCEPT;

/* gasell_bind_arrow for a table in the host's memory, or in that of a GPU that the engine computes on, behind its sync_event. On a GPU
 * columns of numbers without missing ones stay where they are, read-only; all others come to the host. */
GASELL_API gasell_status gasell_bind_arrow_device(gasell_session* session, const char* name, struct ArrowSchema* schema,
                                                  struct ArrowDeviceArray* array, gasell_error** error) GASELL_NOEXCEPT;
/* A DataFrame or a Series, computed, in the memory of a device, by Arrow's numbers, which are DLPack's. What goes to a GPU is a copy of
 * what the host has, done on all streams: sync_event is NULL. The memory may outlive the session but not the engine. */
GASELL_API gasell_status gasell_value_arrow_device(gasell_value* value, int device_type, int device, struct ArrowSchema* schema,
                                                   struct ArrowDeviceArray* array, gasell_error** error) GASELL_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
