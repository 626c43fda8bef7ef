"""Exceptions as IPython and notebooks print them."""

from __future__ import annotations

from tests.read.reading import tracebacks_of

NOTEBOOK = """FrobError                                 Traceback (most recent call last)
Cell In[23], line 1
----> 1 trainer.train()

File ~/venv/lib/python3.11/site-packages/acme/trainer.py:2245, in Trainer.train(self, resume)
   2243         progress()
   2244 else:
-> 2245     return inner(
   2246         args=args,
   (...)
   2250     )

/usr/lib/python3/dist-packages/acme/loop.py in run(self, batch)
     81
---> 82             raise FrobError(
     83                 "out of tune")

20 frames
FrobError: out of tune
by a third
step 4
"""


def test_notebook() -> None:
    """What IPython prints is read: both forms of its frames, with the line that its arrow marks."""
    (found,) = tracebacks_of(NOTEBOOK)
    assert (found.type, found.message.split("\n")[0]) == ("FrobError", "out of tune")
    assert [(each.function, each.line, each.code) for each in found.frames] == [
        ("<module>", 1, "trainer.train()"),
        ("Trainer.train", 2245, "return inner("),
        ("run", 82, "raise FrobError("),
    ]


LINKED = """FrobError                                 Traceback (most recent call last)
[<ipython-input-36-2a45>](https://localhost:8080/#) in <module>()
----> 1 trainer.train()

9 frames
[/usr/lib/python3/dist-packages/acme/loop.py](https://localhost:8080/#) in run(self, batch)
     81
---> 82             raise FrobError("out of tune")

File [~/lib/acme/net.py:41](http://localhost:8888/home/me/lib/acme/net.py#line=40), in Net.run(self, **kwargs)
     40 else:
---> 41     tune()

/home/me/test.ipynb Cell 3 line 2
      [1](vscode-notebook-cell://host/home/me/test.ipynb#W0sd?line=0) import frob
----> [2](vscode-notebook-cell://host/home/me/test.ipynb#W0sd?line=1) frob.tune()

FrobError: out of tune
"""


def test_notebook_with_links() -> None:
    """Frames and lines that Colab or VS Code wrote as links are read as those without."""
    (found,) = tracebacks_of(LINKED)
    assert (found.type, found.message) == ("FrobError", "out of tune")
    assert [(each.file, each.line, each.code) for each in found.frames] == [
        ("<ipython-input-36-2a45>", 1, "trainer.train()"),
        ("/usr/lib/python3/dist-packages/acme/loop.py", 82, 'raise FrobError("out of tune")'),
        ("~/lib/acme/net.py", 41, "tune()"),
        ("/home/me/test.ipynb", 2, "frob.tune()"),
    ]


def test_notebook_that_is_cut() -> None:
    """The rest of the log behind a notebook's traceback without an end is not taken for it."""
    cut = NOTEBOOK.partition("20 frames")[0]
    (found,) = tracebacks_of(cut + "2026-11-29 21:32:06,267 - INFO - after\n" * 60)
    assert not found.complete
    assert found.lines[1] < 20


def test_notebook_without_its_last_line() -> None:
    """Where the log ends inside a notebook's traceback, the type is taken from its head."""
    (found,) = tracebacks_of(NOTEBOOK.partition("20 frames")[0])
    assert (found.type, found.complete, len(found.frames)) == ("FrobError", False, 3)
