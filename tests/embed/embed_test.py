"""ppan loaded into a process that already uses OpenBLAS (as Python with NumPy does) changes nothing for it."""

import ctypes
import ctypes.util
import os
import sys
import unittest

MODULE = sys.argv.pop(1)
THREADS = 3


class Host:
    """The process as its owner sees it."""

    def __init__(self):
        self.blas = ctypes.CDLL("libopenblas.so.0", mode=ctypes.RTLD_GLOBAL)
        self.blas.openblas_get_corename.restype = ctypes.c_char_p
        self.blas.openblas_set_num_threads(THREADS)
        self.libc = ctypes.CDLL(None)

    def environment(self):
        # os.environ is a copy from the start; setenv() of a library shows only here.
        block = ctypes.POINTER(ctypes.c_char_p).in_dll(self.libc, "environ")
        entries = []
        while block[len(entries)]:
            entries.append(block[len(entries)])
        return sorted(entries)

    def product(self):
        """Bits of a product whose sums depend on the kernel that makes them."""
        n = 97
        a = (ctypes.c_float * (n * n))(*(((i * 7919) % 1009) / 1009.0 for i in range(n * n)))
        c = (ctypes.c_float * (n * n))()
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        self.blas.cblas_sgemm(102, 111, 111, n, n, n, one, a, n, a, n, zero, c, n)
        return bytes(c)

    def state(self):
        return {"threads": self.blas.openblas_get_num_threads(), "kernels": self.blas.openblas_get_corename(),
                "environment": self.environment(), "product": self.product()}


class Embedded(unittest.TestCase):
    def test_the_process_is_left_as_it_was(self):
        host = Host()
        before = host.state()
        self.assertEqual(before["threads"], THREADS)
        module = ctypes.CDLL(MODULE)
        self.assertEqual(host.state(), before, "after loading")
        self.assertEqual(module.embedded_run(), 0)
        self.assertEqual(host.state(), before, "after training")

        # The comparison would notice a library that chooses other kernels.
        if before["kernels"] == b"Prescott" and "OPENBLAS_CORETYPE" not in os.environ:
            module.embedded_take_over()
            self.assertNotEqual(host.state()["kernels"], before["kernels"])


if __name__ == "__main__":
    unittest.main()
