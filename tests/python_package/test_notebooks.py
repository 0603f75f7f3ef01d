"""Real notebooks through nbclient: the kernel of Gasell, and %load_ext gasell in one of Python. Needs ipykernel and nbclient."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import ipykernel  # noqa: F401
    import nbclient
    import nbformat
except ImportError:
    nbclient = None


@unittest.skipIf(nbclient is None, "ipykernel and nbclient are not installed")
class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        subprocess.run([sys.executable, "-m", "gasell.kernel", "install", "--prefix", cls.folder.name], check=True, stdout=subprocess.DEVNULL)
        os.environ["JUPYTER_PATH"] = str(Path(cls.folder.name) / "share/jupyter")

    def run_cells(self, kernel, *cells, **options):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        client = nbclient.NotebookClient(notebook, kernel_name=kernel, timeout=90, allow_errors=True, **options)
        client.execute()
        return [cell.outputs for cell in notebook.cells]

    def test_a_notebook_of_gasell(self):
        outputs = self.run_cells(
            "gasell", "x = np.arange(4.0)\nprint('hello')\nx * 2", "pd.DataFrame({'a': [1, 2]})", "plt.plot(x)\nplt.show()", "1 / 0",
            "'after the error'", "np.float32(1.5)", "x;", "_")
        self.assertEqual(outputs[0][0].text, "hello\n")
        self.assertEqual(outputs[0][1].data["text/plain"], "array([0., 2., 4., 6.])")
        self.assertIn("<table", outputs[1][0].data["text/html"])
        self.assertEqual(outputs[1][0].data["text/plain"], "   a\n0  1\n1  2")
        pictures = [output for output in outputs[2] if output.output_type == "display_data"]
        if any("not installed" in str(output) or "error" == output.output_type for output in outputs[2]):
            print("pictures are not drawn here")
        else:
            self.assertEqual([list(picture.data) for picture in pictures], [["image/png"]])
        self.assertEqual((outputs[3][0].output_type, outputs[3][0].ename), ("error", "ZeroDivisionError"))
        self.assertIn("<cell 4>:1:1", "\n".join(outputs[3][0].traceback))
        self.assertEqual(outputs[4][0].data["text/plain"], "'after the error'")
        self.assertEqual(outputs[5][0].data["text/plain"], "np.float32(1.5)")
        self.assertEqual(outputs[6], [])

    def test_long_computations_tell_how_far_they_are(self):
        cell = "x = np.arange(3e8)\nfloat(np.sin(np.sqrt(x) + np.exp(np.cos(x))).sum()) > 0"
        lines = "".join(output.text for output in self.run_cells("gasell", "1", cell)[1] if output.output_type == "stream")
        if not lines:
            print("the computation was too fast to be told of")
        else:
            self.assertRegex(lines, r"\r\[#*-*\] +\d+%")

    def test_what_an_editor_asks(self):
        from jupyter_client.manager import start_new_kernel

        manager, client = start_new_kernel(kernel_name="gasell")
        try:
            client.execute("table = pd.DataFrame({'é': [1]})\ndef f(x, y=2):\n    \"\"\"Adds.\"\"\"\n    return x + y", reply=True, timeout=60)
            told = client.complete("'é'; table.groupb", reply=True, timeout=60)["content"]
            self.assertEqual((told["matches"], told["cursor_start"], told["cursor_end"]), (["groupby"], 11, 17))
            told = client.inspect("f(1, ", reply=True, timeout=60)["content"]
            self.assertEqual(told["data"]["text/plain"], "f(x, y=2)\nAdds.\n")
            self.assertFalse(client.inspect("", reply=True, timeout=60)["content"]["found"])
            for text, status in [("x = 1", "complete"), ("def f():", "incomplete"), ("x = )", "invalid")]:
                client.is_complete(text)
                self.assertEqual(client.get_shell_msg(timeout=60)["content"]["status"], status)
            client.execute("while True:\n    pass")
            import time

            time.sleep(1)
            manager.interrupt_kernel()
            self.assertEqual(client.get_shell_msg(timeout=30)["content"]["ename"], "KeyboardInterrupt")
            reply = client.execute("2", user_expressions={"a": "1 + 1", "b": "nothing"}, reply=True, timeout=60)["content"]
            self.assertEqual(reply["user_expressions"]["a"]["data"]["text/plain"], "2")
            self.assertEqual(reply["user_expressions"]["b"]["ename"], "NameError")
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)

    def test_cells_of_gasell_in_a_notebook_of_python(self):
        outputs = self.run_cells(
            "python3", "%load_ext gasell\na = 3\nitems = [1, 2]", "%%gasell\nb = a + len(items)\nc = np.arange(b)\nprint('in', b)\nc.sum()",
            "type(c).__name__, b, c.shape", "%gasell c[1:].sum() * a", "%%gasell\nbad = {}['k']", "%%gasell\na += 1", "a",
            "%unload_ext gasell")
        self.assertEqual(outputs[1][0].text, "in 5\n")
        self.assertEqual(outputs[1][1].data["text/plain"], "10")
        self.assertEqual(outputs[2][0].data["text/plain"], "('Array', 5, (5,))")
        self.assertEqual(outputs[3][0].data["text/plain"], "30")
        self.assertEqual(outputs[4][0].ename, "KeyError")
        self.assertEqual(outputs[6][0].data["text/plain"], "4")
        self.assertEqual(outputs[7], [])


if __name__ == "__main__":
    unittest.main()
