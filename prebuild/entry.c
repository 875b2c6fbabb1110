/* Kernels compiled by numba, as a Python extension of the limited API: their addresses, and calls from Python.

   table.h is written by compile_kernels.py: for each kernel its name, address and arguments, and for each pattern of
   arguments a function that calls with numba's convention. An array is passed as numba's descriptor: owner, parent
   (both none), number of items, item size, data, shape, strides. Whatever comes from Python is looked at before a kernel
   sees it: count, kind, dimensions, item types and sizes, C order. Which arrays are written is the callers' to know:
   states may be read-only. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef union { int64_t i; double d; } Slot;
typedef struct { char format; int n_dims; Py_ssize_t itemsize; } Array; /* format: d, q, or r: records */
typedef struct { const char *name; Py_ssize_t n_arrays; const Array *arrays; } Tables;
typedef enum { REAL, INTEGER, ARRAY, TABLES } Sort;
typedef struct { Sort sort; Array array; const Tables *tables; } Argument;
typedef int Call(const void *function, const Slot *slots, int64_t *result);
typedef struct { const char *name; const void *code; int n_arguments; const Argument *arguments; Call *call; } Kernel;

#include "table.h" /* KERNELS, TABLE_KINDS; MOST_ARRAYS and MOST_SLOTS of a call; SOURCES, LEVEL, MADE_BY */

#define N_KERNELS (sizeof KERNELS / sizeof KERNELS[0])
#define N_TABLE_KINDS (sizeof TABLE_KINDS / sizeof TABLE_KINDS[0])

static int has_format(const Py_buffer *view, char wanted) {
    const char *found = view->format ? view->format : "B";
    if (wanted == 'r') return 1; /* records are known by their size */
    if (*found == '=' || *found == '<' || *found == '@') found++;
    if (found[0] == '\0' || found[1] != '\0') return 0;
    return wanted == 'd' ? found[0] == 'd' : found[0] == 'q' || (found[0] == 'l' && sizeof(long) == 8);
}

/* Appends the descriptor of an array; 0 and an exception if it is not what the kernel reads. */
static int describe(PyObject *object, const Array *wanted, Py_buffer *view, Slot **at, const char *where, int index) {
    int flags = PyBUF_C_CONTIGUOUS | (wanted->format == 'r' ? 0 : PyBUF_FORMAT);
    if (PyObject_GetBuffer(object, view, flags)) {
        PyErr_Format(PyExc_TypeError, "%s: array %d is no array in C order", where, index);
        return 0;
    }
    if (view->ndim != wanted->n_dims || view->itemsize != wanted->itemsize || !has_format(view, wanted->format)) {
        PyErr_Format(PyExc_TypeError, "%s: array %d has %d dimensions of items '%s' of %zd bytes; %d of '%c' of %zd wanted",
                     where, index, view->ndim, view->format ? view->format : "r", view->itemsize, wanted->n_dims,
                     wanted->format, wanted->itemsize);
        PyBuffer_Release(view);
        return 0;
    }
    Slot *slot = *at;
    *slot++ = (Slot){.i = 0};
    *slot++ = (Slot){.i = 0};
    *slot++ = (Slot){.i = view->len / view->itemsize};
    *slot++ = (Slot){.i = view->itemsize};
    *slot++ = (Slot){.i = (int64_t)(intptr_t)view->buf};
    for (int d = 0; d < view->ndim; d++) *slot++ = (Slot){.i = view->shape[d]};
    for (int d = 0; d < view->ndim; d++) *slot++ = (Slot){.i = view->strides[d]};
    *at = slot;
    return 1;
}

/* --- calls ------------------------------------------------------------------------------------------------------ */

static PyObject *enter(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    const Kernel *kernel = PyCapsule_GetPointer(self, "kernel");
    Py_buffer views[MOST_ARRAYS];
    Slot slots[MOST_SLOTS], *at = slots;
    int n_views = 0, status = 0;
    int64_t result = 0;
    PyObject *found = NULL;
    if (!kernel) return NULL;
    if (count != kernel->n_arguments)
        return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, %zd were given", kernel->name, kernel->n_arguments, count);
    for (int i = 0; i < kernel->n_arguments; i++) {
        const Argument *wanted = &kernel->arguments[i];
        PyObject *given = arguments[i];
        switch (wanted->sort) {
        case REAL:
            at->d = PyFloat_AsDouble(given);
            if (at->d == -1.0 && PyErr_Occurred()) goto done;
            at++;
            break;
        case INTEGER:
            at->i = PyLong_AsLongLong(given);
            if (at->i == -1 && PyErr_Occurred()) goto done;
            at++;
            break;
        case TABLES:
            if (!PyCapsule_IsValid(given, wanted->tables->name)) {
                PyErr_Format(PyExc_TypeError, "%s: argument %d is no pinned %s", kernel->name, i, wanted->tables->name);
                goto done;
            }
            at->i = (int64_t)(intptr_t)PyCapsule_GetPointer(given, wanted->tables->name);
            at++;
            break;
        case ARRAY:
            if (!describe(given, &wanted->array, &views[n_views], &at, kernel->name, i)) goto done;
            n_views++;
            break;
        }
    }
    Py_BEGIN_ALLOW_THREADS
    status = kernel->call(kernel->code, slots, &result);
    Py_END_ALLOW_THREADS
    if (status)
        PyErr_Format(PyExc_RuntimeError, "kernel %s ended with status %d of numba", kernel->name, status);
    else
        found = PyLong_FromLongLong(result);
done:
    while (n_views) PyBuffer_Release(&views[--n_views]);
    return found;
}

static PyMethodDef ENTER = {"enter", (PyCFunction)(void (*)(void))enter, METH_FASTCALL, NULL};

static const Kernel *find(PyObject *name) {
    PyObject *text = PyUnicode_AsUTF8String(name);
    const char *wanted = text ? PyBytes_AsString(text) : NULL;
    const Kernel *found = NULL;
    if (!wanted) {
        Py_XDECREF(text);
        return NULL;
    }
    for (size_t i = 0; i < N_KERNELS && !found; i++)
        if (!strcmp(KERNELS[i].name, wanted)) found = &KERNELS[i];
    Py_DECREF(text);
    if (!found) PyErr_Format(PyExc_LookupError, "%U is none of the kernels of this wheel; PLIANT_JIT=1 compiles it", name);
    return found;
}

static PyObject *address(PyObject *module, PyObject *name) {
    const Kernel *kernel = find(name);
    (void)module;
    return kernel ? PyLong_FromVoidPtr((void *)kernel->code) : NULL;
}

static PyObject *entry(PyObject *module, PyObject *name) {
    const Kernel *kernel = find(name);
    (void)module;
    if (!kernel) return NULL;
    if (!kernel->call) return PyErr_Format(PyExc_LookupError, "%U is not called from Python: its contract is not entered", name);
    PyObject *capsule = PyCapsule_New((void *)kernel, "kernel", NULL);
    PyObject *function = capsule ? PyCFunction_NewEx(&ENTER, capsule, NULL) : NULL;
    Py_XDECREF(capsule);
    return function;
}

static PyObject *kernels(PyObject *module, PyObject *nothing) {
    PyObject *names = PyTuple_New(N_KERNELS);
    (void)module, (void)nothing;
    for (size_t i = 0; names && i < N_KERNELS; i++)
        if (PyTuple_SetItem(names, i, PyUnicode_FromString(KERNELS[i].name))) Py_CLEAR(names);
    return names;
}

/* --- tables ----------------------------------------------------------------------------------------------------- */

static void unpin(PyObject *capsule) {
    free(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule));
}

/* pin(name, tables): a pointer to the descriptors of the arrays, which it keeps alive. */
static PyObject *pin(PyObject *module, PyObject *arguments) {
    const char *name;
    PyObject *tuple;
    const Tables *wanted = NULL;
    Py_ssize_t n_slots = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "sO!", &name, &PyTuple_Type, &tuple)) return NULL;
    for (size_t i = 0; i < N_TABLE_KINDS && !wanted; i++)
        if (!strcmp(TABLE_KINDS[i].name, name)) wanted = &TABLE_KINDS[i];
    if (!wanted) return PyErr_Format(PyExc_LookupError, "%s are no tables of kernels", name);
    if (PyTuple_Size(tuple) != wanted->n_arrays)
        return PyErr_Format(PyExc_TypeError, "%s has %zd arrays, %zd were given", name, wanted->n_arrays, PyTuple_Size(tuple));
    for (Py_ssize_t i = 0; i < wanted->n_arrays; i++) n_slots += 5 + 2 * wanted->arrays[i].n_dims;
    Slot *slots = malloc(n_slots * sizeof(Slot)), *at = slots;
    if (!slots) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < wanted->n_arrays; i++) {
        Py_buffer view;
        if (!describe(PyTuple_GetItem(tuple, i), &wanted->arrays[i], &view, &at, name, (int)i)) {
            free(slots);
            return NULL;
        }
        PyBuffer_Release(&view);
    }
    PyObject *capsule = PyCapsule_New(slots, wanted->name, unpin);
    if (!capsule) {
        free(slots);
        return NULL;
    }
    Py_INCREF(tuple);
    PyCapsule_SetContext(capsule, tuple);
    return capsule;
}

/* pinned_at(pinned): its address, for kernels that take arrays of them. */
static PyObject *pinned_at(PyObject *module, PyObject *pinned) {
    (void)module;
    for (size_t i = 0; i < N_TABLE_KINDS; i++)
        if (PyCapsule_IsValid(pinned, TABLE_KINDS[i].name))
            return PyLong_FromVoidPtr(PyCapsule_GetPointer(pinned, TABLE_KINDS[i].name));
    return PyErr_Format(PyExc_TypeError, "%R is no pinned table", pinned);
}

/* --- module ----------------------------------------------------------------------------------------------------- */

static PyMethodDef METHODS[] = {
    {"address", address, METH_O, "address(name) of a kernel, as \"energy.energies\""},
    {"entry", entry, METH_O, "entry(name): the kernel as a function, arguments looked at"},
    {"kernels", kernels, METH_NOARGS, "names of all kernels"},
    {"pinned_at", pinned_at, METH_O, "pinned_at(pinned): the address of pinned tables"},
    {"pin", pin, METH_VARARGS, "pin(name, tables): what kernels take for System, Work or Memory"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_prebuilt", NULL, -1, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__prebuilt(void) {
    if (!__builtin_cpu_supports(LEVEL)) {
        PyErr_SetString(PyExc_ImportError, "the kernels of this wheel need a processor of level " LEVEL);
        return NULL;
    }
    PyObject *module = PyModule_Create(&MODULE);
    if (module && (PyModule_AddStringConstant(module, "SOURCES", SOURCES) || PyModule_AddStringConstant(module, "LEVEL", LEVEL) ||
                   PyModule_AddStringConstant(module, "MADE_BY", MADE_BY)))
        Py_CLEAR(module);
    return module;
}
