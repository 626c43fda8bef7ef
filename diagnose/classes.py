"""Data classes as in `dataclasses`, made ten times faster: a start imports a hundred of them and uses a few.

For type checkers `dataclass`, `field` and `replace` are those of the standard library, and `fields`, `asdict` and
`is_dataclass` work on these classes. `__init__` is written once a class proves to have many instances. Fields are not
inherited.
"""

from __future__ import annotations

from diagnose.typed import TYPE_CHECKING, Any


def field_names(instance: Any) -> tuple[str, ...] | None:
    """Give the names of the fields of a data class's instance, in their order; None of anything else."""
    members = vars(type(instance))
    return members["__match_args__"] if "__dataclass_fields__" in members else None


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from operator import attrgetter

    _NONE = object()
    _FEW = 12  # instances that are made without a method of their own: writing one takes as long as these

    class _Field:
        __slots__ = ("default", "factory", "repr")

        def __init__(self, default, factory, repr):
            self.default = default
            self.factory = factory
            self.repr = repr

    def field(*, default=_NONE, default_factory=_NONE, repr=True):
        """As `dataclasses.field`."""
        return _Field(default, default_factory, repr)

    def replace(instance, /, **changes):
        """As `dataclasses.replace`."""
        cls = type(instance)
        return cls(**{name: getattr(instance, name) for name in cls.__match_args__} | changes)

    def dataclass(*, frozen=False, slots=False, eq=True, order=False):
        """As `dataclasses.dataclass`, with these options only."""

        def decorate(cls):
            names = tuple(cls.__dict__.get("__annotations__", ()))  # noqa: RUF063 inspect takes as long to import as all the rest
            members = dict(cls.__dict__)
            given = {name: members.pop(name) for name in names if name in members}
            fields = {n: v if isinstance(v, _Field) else _Field(v, _NONE, True) for n, v in given.items()}
            for gone in ("__dict__", "__weakref__"):
                members.pop(gone, None)
            members |= {"__match_args__": names, "__dataclass_fields__": _Fields(names, fields)}
            if slots:
                members["__slots__"] = names
            _add_methods(members, names, fields, frozen, eq, order)
            made = type(cls)(cls.__name__, cls.__bases__, members)
            made.__qualname__ = cls.__qualname__
            _prepare_init(made, names, fields, frozen)
            return made

        return decorate

    class _Fields:
        """Stands for what the functions of `dataclasses` look at, until one of them does."""

        def __init__(self, names, fields):
            self._names = names
            self._fields = fields

        def __get__(self, _instance, cls):
            import dataclasses

            members = {"__annotations__": {name: cls.__annotations__[name] for name in self._names}}
            for name, own in self._fields.items():
                if own.factory is not _NONE:
                    members[name] = dataclasses.field(default_factory=own.factory, repr=own.repr)
                else:
                    members[name] = dataclasses.field(default=own.default, repr=own.repr)
            shadow = dataclasses.dataclass(init=False, repr=False, eq=False)(type(cls.__name__, (), members))
            cls.__dataclass_fields__ = shadow.__dataclass_fields__
            return cls.__dataclass_fields__

    def _add_methods(members, names, fields, frozen, eq, order):
        values = _values_of(names)
        shown = [name for name in names if name not in fields or fields[name].repr]

        def show(self):
            return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

        def reduce(self):
            return type(self), values(self)

        members.setdefault("__repr__", show)
        members["__reduce__"] = reduce
        if eq:
            members.setdefault("__eq__", _compared(values, "__eq__"))
            members.setdefault("__hash__", (lambda self: hash(values(self))) if frozen else None)
        if order:
            members |= {name: _compared(values, name) for name in ("__lt__", "__le__", "__gt__", "__ge__")}
        if frozen:
            members["__setattr__"] = members["__delattr__"] = _refuse

    def _values_of(names):
        if len(names) > 1:
            return attrgetter(*names)
        return lambda self: tuple(getattr(self, name) for name in names)

    def _compared(values, name):
        method = getattr(tuple, name)

        def compare(self, other):
            return method(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

        return compare

    def _refuse(self, name, *_value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _prepare_init(cls, names, fields, frozen):
        made = 0

        def first(self, *args, **kwargs):
            nonlocal made
            made += 1
            values = dict(zip(names, args))  # noqa: B905 the real method complains of too many
            if made > _FEW or len(args) > len(names) or kwargs.keys() - names or kwargs.keys() & values.keys():
                cls.__init__ = _written_init(cls, names, fields, frozen)
                cls.__init__(self, *args, **kwargs)
                return
            values |= kwargs
            for name in names:
                if name in values:
                    value = values[name]
                elif name in fields:
                    own = fields[name]
                    value = own.default if own.factory is _NONE else own.factory()
                else:
                    _written_init(cls, names, fields, frozen)(self, *args, **kwargs)  # it says what is missing
                set_field(self, name, value)
            if hasattr(self, "__post_init__"):
                self.__post_init__()

        set_field = object.__setattr__
        cls.__init__ = first

    def _written_init(cls, names, fields, frozen):
        space = {"_none": _NONE}
        parameters, lines = [], []
        for name in names:
            value, own = name, fields.get(name)
            if own is None:
                parameters.append(name)
            elif own.factory is _NONE:
                space[f"_default_{name}"] = own.default
                parameters.append(f"{name}=_default_{name}")
            else:
                space[f"_make_{name}"] = own.factory
                parameters.append(f"{name}=_none")
                value = f"_make_{name}() if {name} is _none else {name}"
            if frozen:
                space[f"_set_{name}"] = cls.__dict__[name].__set__
                lines.append(f" _set_{name}(self, {value})")
            else:
                lines.append(f" self.{name} = {value}")
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()")
        exec("\n".join([f"def __init__(self, {', '.join(parameters)}):", *(lines or [" pass"])]), space)
        return space["__init__"]
