/* The module pagekin.kernels.machine: calls kernels that were compiled when the wheel was built.

A kernel was compiled for one or more signatures. A signature is a string of tokens:

    a KIND SIZE DIMENSIONS LAYOUT ACCESS   an array; layout C, F or A (any strides); access r (only read) or w
    s KIND SIZE                            a number
    ( TOKENS )                             a tuple
    v                                      None, as a result

where KIND and SIZE are those of numpy: b1, i8, u4, f8. Arguments are checked against the signatures in turn; if none
fits, the fallback is called. The entry of a signature takes its arguments from an array of 8-byte slots, as numba
passes them: for an array (meminfo, parent, items, item size, data, shape, strides), for a number its value.

Memory of arrays that kernels create is counted by numba's NRT interface, of which this file has what kernels use.
The file of declarations that `compile.py` writes defines ENTRIES, DIGESTS and TARGET. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 1024

typedef struct {
    const char *name, *arguments, *result;
    int32_t (*call)(int64_t *slots, void *result, void *error);
    int wide; /* for processors with AVX-512; comes before the same for all */
} Entry;

#include "declarations.h"

/* --- memory, as numba counts it ------------------------------------------------------------------------------- */

typedef struct {
    int64_t references;
    void (*destroy)(void *data, size_t size, void *info);
    void *info;
    void *data;
    size_t size;
    void *allocator;
} MemInfo;

void *NRT_Allocate(size_t size) { return malloc(size); }

void NRT_Free(void *data) { free(data); }

void NRT_MemInfo_call_dtor(MemInfo *memory) {
    if (memory->destroy) memory->destroy(memory->data, memory->size, memory->info);
    free(memory);
}

MemInfo *NRT_MemInfo_alloc_aligned(size_t size, unsigned align) {
    MemInfo *memory = size > SIZE_MAX - sizeof(MemInfo) - align ? NULL : malloc(sizeof(MemInfo) + size + align);
    if (!memory) return NULL;
    uintptr_t data = (uintptr_t)(memory + 1);
    *memory = (MemInfo){1, NULL, NULL, (void *)(align ? (data + align - 1) / align * align : data), size, NULL};
    return memory;
}

static void destroy_variable(void *data, size_t size, void *info) {
    if (info) ((void (*)(void *))info)(data);
    free(data);
}

MemInfo *NRT_MemInfo_new_varsize_dtor(size_t size, void *destroy) {
    MemInfo *memory = malloc(sizeof(MemInfo));
    void *data = malloc(size);
    if (!memory || !data) {
        free(memory);
        free(data);
        return NULL;
    }
    *memory = (MemInfo){1, destroy_variable, destroy, data, size, NULL};
    return memory;
}

void *NRT_MemInfo_varsize_realloc(MemInfo *memory, size_t size) {
    void *data = realloc(memory->data, size);
    if (!data) return NULL;
    memory->data = data;
    memory->size = size;
    return data;
}

static void release(PyObject *capsule) {
    MemInfo *memory = PyCapsule_GetPointer(capsule, NULL);
    if (__atomic_sub_fetch(&memory->references, 1, __ATOMIC_ACQ_REL) == 0) NRT_MemInfo_call_dtor(memory);
}

/* --- arguments ------------------------------------------------------------------------------------------------ */

static int put_array(const char *token, PyObject *given, int64_t **slot) {
    if (!PyArray_Check(given)) return 0;
    PyArrayObject *array = (PyArrayObject *)given;
    PyArray_Descr *type = PyArray_DESCR(array);
    int dimensions = token[3] - '0', layout = token[4];
    if (type->kind != token[1] || PyArray_ITEMSIZE(array) != token[2] - '0' || PyArray_NDIM(array) != dimensions ||
        !PyArray_ISALIGNED(array) || PyArray_ISBYTESWAPPED(array) ||
        (layout == 'C' && !PyArray_IS_C_CONTIGUOUS(array)) || (layout == 'F' && !PyArray_IS_F_CONTIGUOUS(array)) ||
        (token[5] == 'w' && !PyArray_ISWRITEABLE(array)))
        return 0;
    int64_t *s = *slot;
    *s++ = 0;
    *s++ = (int64_t)(intptr_t)given;
    *s++ = PyArray_SIZE(array);
    *s++ = token[2] - '0';
    *s++ = (int64_t)(intptr_t)PyArray_DATA(array);
    for (int k = 0; k < dimensions; k++) *s++ = PyArray_DIM(array, k);
    for (int k = 0; k < dimensions; k++) *s++ = PyArray_STRIDE(array, k);
    *slot = s;
    return 1;
}

static int put_number(const char *token, PyObject *given, int64_t **slot) {
    if (PyBool_Check(given)) {
        if (token[1] != 'b') return 0;
        **slot = given == Py_True;
    } else if (PyLong_Check(given)) {
        int overflow;
        if (token[1] != 'i' || token[2] != '8') return 0;
        **slot = PyLong_AsLongLongAndOverflow(given, &overflow);
        if (overflow) return 0;
    } else if (PyFloat_Check(given)) {
        double number = PyFloat_AsDouble(given);
        if (token[1] != 'f' || token[2] != '8') return 0;
        memcpy(*slot, &number, 8);
    } else if (PyArray_IsScalar(given, Generic)) {
        PyArray_Descr *type = PyArray_DescrFromScalar(given);
        int same = type->kind == token[1] && PyDataType_ELSIZE(type) == token[2] - '0';
        Py_DECREF(type);
        if (!same) return 0;
        **slot = 0;
        PyArray_ScalarAsCtype(given, *slot);
    } else
        return 0;
    (*slot)++;
    return 1;
}

/* Put the items of a tuple into slots; 0 if they do not fit the tokens, which end with `)` or a zero byte. */
static int put_tuple(const char **token, PyObject *given, int64_t **slot) {
    Py_ssize_t count = PyTuple_Size(given), k = 0;
    for (; **token && **token != ')'; k++) {
        if (k == count) return 0;
        PyObject *item = PyTuple_GetItem(given, k);
        if (**token == 'a') {
            if (!put_array(*token, item, slot)) return 0;
            *token += 6;
        } else if (**token == 's') {
            if (!put_number(*token, item, slot)) return 0;
            *token += 3;
        } else {
            ++*token;
            if (!PyTuple_Check(item) || !put_tuple(token, item, slot)) return 0;
            ++*token;
        }
    }
    return k == count;
}

/* --- results -------------------------------------------------------------------------------------------------- */

static PyObject *take_array(const char *token, const int64_t *s) {
    MemInfo *memory = (MemInfo *)(intptr_t)s[0];
    PyObject *parent = (PyObject *)(intptr_t)s[1], *base;
    void *data = (void *)(intptr_t)s[4];
    int dimensions = token[3] - '0', same = parent && PyArray_DATA((PyArrayObject *)parent) == data &&
                                            PyArray_NDIM((PyArrayObject *)parent) == dimensions;
    npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS];
    for (int k = 0; k < dimensions; k++) {
        shape[k] = s[5 + k];
        strides[k] = s[5 + dimensions + k];
        same = same && PyArray_DIM((PyArrayObject *)parent, k) == shape[k] &&
               PyArray_STRIDE((PyArrayObject *)parent, k) == strides[k];
    }
    if (same) { /* an argument */
        Py_INCREF(parent);
        return parent;
    }
    char name[3] = {token[1], token[2], 0};
    PyArray_Descr *type;
    PyObject *text = PyUnicode_FromString(name);
    int known = text && PyArray_DescrConverter(text, &type);
    Py_XDECREF(text);
    if (memory)
        base = PyCapsule_New(memory, NULL, release);
    else if ((base = parent))
        Py_INCREF(base);
    else
        PyErr_SetString(PyExc_RuntimeError, "a kernel returned an array without an owner");
    if (!known || !base) return NULL;
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, type, dimensions, shape, strides, data, NPY_ARRAY_WRITEABLE, NULL);
    if (!array || PyArray_SetBaseObject((PyArrayObject *)array, base) < 0) return NULL;
    PyArray_UpdateFlags((PyArrayObject *)array, NPY_ARRAY_UPDATE_ALL);
    return array;
}

static PyObject *take_number(const char *token, const char *from) {
    int size = token[2] - '0';
    union {
        int64_t i;
        uint64_t u;
        double d;
        float f;
    } number = {0};
    memcpy(&number, from, size);
    if (token[1] == 'b') return PyBool_FromLong(number.i & 1);
    if (token[1] == 'f') return PyFloat_FromDouble(size == 8 ? number.d : number.f);
    if (token[1] == 'u') return PyLong_FromUnsignedLongLong(number.u);
    return PyLong_FromLongLong(number.i << (64 - 8 * size) >> (64 - 8 * size));
}

static PyObject *take(const char **token, const char *result, size_t *offset) {
    const char *t = *token;
    if (*t == 'a') {
        *offset = (*offset + 7) / 8 * 8;
        PyObject *array = take_array(t, (const int64_t *)(result + *offset));
        *offset += 8 * (5 + 2 * (t[3] - '0'));
        *token += 6;
        return array;
    }
    if (*t == 's') {
        size_t size = t[2] - '0';
        *offset = (*offset + size - 1) / size * size;
        PyObject *number = take_number(t, result + *offset);
        *offset += size;
        *token += 3;
        return number;
    }
    PyObject *items = PyList_New(0), *tuple = NULL;
    for (++*token; items && **token != ')';) {
        PyObject *item = take(token, result, offset);
        if (!item || PyList_Append(items, item) < 0) {
            Py_XDECREF(item);
            Py_CLEAR(items);
        } else
            Py_DECREF(item);
    }
    ++*token;
    if (items) tuple = PyList_AsTuple(items);
    Py_XDECREF(items);
    return tuple;
}

/* numba describes an exception by a pickle of (class, arguments, place). */
static PyObject *raise_error(const char *name, int32_t status, void *error) {
    struct {
        const char *pickle;
        int32_t size;
        void *digest, *build;
        int32_t dynamic;
    } *info = error;
    if (status > 0 && info && info->pickle && info->dynamic <= 0) {
        PyObject *pickle = PyImport_ImportModule("pickle"), *kind = NULL, *arguments = NULL;
        PyObject *parts = pickle ? PyObject_CallMethod(pickle, "loads", "y#", info->pickle, (Py_ssize_t)info->size) : NULL;
        if (parts && (kind = PySequence_GetItem(parts, 0)) && (arguments = PySequence_GetItem(parts, 1)))
            PyErr_SetObject(kind, arguments == Py_None ? NULL : arguments);
        Py_XDECREF(arguments);
        Py_XDECREF(kind);
        Py_XDECREF(parts);
        Py_XDECREF(pickle);
    }
    if (!PyErr_Occurred()) PyErr_Format(PyExc_RuntimeError, "the kernel %s failed (status %d)", name, (int)status);
    return NULL;
}

/* --- the module ----------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    int first, last; /* in ENTRIES */
    PyObject *fallback, *result;
} Kernel;

/* Whether the processor has AVX-512, and PAGEKIN_KERNELS=baseline does not forbid it. */
static int processor_is_wide(void) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    const char *asked = getenv("PAGEKIN_KERNELS");
    __builtin_cpu_init();
    return !(asked && !strcmp(asked, "baseline")) && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return 0;
#endif
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *name;
    PyObject *fallback, *result;
    if (!PyArg_ParseTuple(arguments, "sOO", &name, &fallback, &result)) return NULL;
    int first = 0, count = sizeof ENTRIES / sizeof *ENTRIES - 1;
    while (first < count && strcmp(ENTRIES[first].name, name)) first++;
    int last = first;
    while (last < count && !strcmp(ENTRIES[last].name, name)) last++;
    while (first < last && ENTRIES[first].wide && !processor_is_wide()) first++;
    Kernel *self = (Kernel *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->first = first;
    self->last = last;
    Py_INCREF(fallback);
    Py_INCREF(result);
    self->fallback = fallback;
    self->result = result;
    return (PyObject *)self;
}

static void kernel_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(((Kernel *)object)->fallback);
    Py_DECREF(((Kernel *)object)->result);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *kernel_call(PyObject *object, PyObject *arguments, PyObject *keywords) {
    Kernel *self = (Kernel *)object;
    int64_t slots[SLOTS], result[64];
    for (int k = self->first; k < self->last && !keywords; k++) {
        const Entry *entry = &ENTRIES[k];
        const char *token = entry->arguments;
        int64_t *slot = slots;
        if (!put_tuple(&token, arguments, &slot)) continue;
        void *error = NULL;
        int32_t status;
        Py_BEGIN_ALLOW_THREADS;
        status = entry->call(slots, result, &error);
        Py_END_ALLOW_THREADS;
        if (status != 0 && status != -2) return raise_error(entry->name, status, error);
        if (*entry->result == 'v') Py_RETURN_NONE;
        size_t offset = 0;
        token = entry->result;
        PyObject *taken = take(&token, (const char *)result, &offset);
        if (!taken || self->result == Py_None) return taken;
        PyObject *named = PyObject_CallObject(self->result, taken);
        Py_DECREF(taken);
        return named;
    }
    return PyObject_Call(self->fallback, arguments, keywords);
}

static PyObject *kernel_attribute(PyObject *object, PyObject *name) {
    PyObject *found = PyObject_GenericGetAttr(object, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return PyObject_GetAttr(((Kernel *)object)->fallback, name);
}

static PyObject *kernel_fallback(PyObject *object, void *closure) {
    PyObject *fallback = ((Kernel *)object)->fallback;
    Py_INCREF(fallback);
    return fallback;
}

static PyGetSetDef kernel_properties[] = {{"fallback", kernel_fallback, NULL, NULL, NULL}, {NULL}};
static PyType_Slot kernel_slots[] = {{Py_tp_new, kernel_new},           {Py_tp_dealloc, kernel_dealloc},
                                     {Py_tp_call, kernel_call},         {Py_tp_getattro, kernel_attribute},
                                     {Py_tp_getset, kernel_properties}, {0, NULL}};
static PyType_Spec kernel_spec = {"pagekin.kernels.machine.Kernel", sizeof(Kernel), 0, Py_TPFLAGS_DEFAULT, kernel_slots};

/* Whether this processor has the instructions for which the kernels were compiled. */
static int processor_fits(void) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt");
#else
    return 1;
#endif
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "machine", NULL, -1, NULL};

PyMODINIT_FUNC PyInit_machine(void) {
    import_array();
    PyObject *module = PyModule_Create(&definition), *digests = PyDict_New(), *kind = PyType_FromSpec(&kernel_spec);
    if (!module || !digests || !kind) return NULL;
    for (int k = 0; DIGESTS[k][0]; k++) {
        PyObject *digest = PyUnicode_FromString(DIGESTS[k][1]);
        if (!digest || PyDict_SetItemString(digests, DIGESTS[k][0], digest) < 0) return NULL;
        Py_DECREF(digest);
    }
    PyObject *entries = PyList_New(0);
    for (int k = 0; entries && ENTRIES[k].name; k++) {
        PyObject *entry = Py_BuildValue("(ss)", ENTRIES[k].name, ENTRIES[k].arguments);
        if (!entry || PyList_Append(entries, entry) < 0) return NULL;
        Py_DECREF(entry);
    }
    if (!entries || PyModule_AddObjectRef(module, "Kernel", kind) < 0 ||
        PyModule_AddObjectRef(module, "DIGESTS", digests) < 0 || PyModule_AddObjectRef(module, "ENTRIES", entries) < 0 ||
        PyModule_AddStringConstant(module, "TARGET", TARGET) < 0 ||
        PyModule_AddIntConstant(module, "FITS", processor_fits()) < 0)
        return NULL;
    return module;
}
