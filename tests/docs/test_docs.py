"""The documents say what is: keys, defaults, names, paths and examples are held against the package."""

import re
import shutil
import tomllib

import pytest

from paths import ROOT
from pliant.cases.loading import load
from pliant.engine.run_options import FILE_OPTIONS, RUN_OPTIONS
from pliant.io.toml import load_model, schema
from pliant.methods import FRICTION_LAWS, NORMAL_LAWS
from pliant.model.normal_laws import NormalLaw
from pliant.system.memory import Memory
from pliant.system.status import Status
from pliant.system.tables import Power, System
from pliant.system.work import Work

PACKAGE = ROOT / "src" / "pliant"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [path.relative_to(ROOT).as_posix() for path in DOCUMENTS]
SCHEMA = schema()  # making it takes a second
every_document = pytest.mark.parametrize("name", NAMES)


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(language):
    """(document, source) of every block of a language; sketches, which change the package itself, are not run."""
    found = []
    for name in NAMES:
        for block in re.finditer(rf"^```{language}\n(.*?)^```$", text_of(name), re.MULTILINE | re.DOTALL):
            if block[1].startswith("# sketch") or name.startswith("docs/gallery/"):
                continue  # test_gallery.py runs the gallery
            line = text_of(name)[: block.start()].count("\n") + 2
            found.append(pytest.param(name, block[1], id=f"{name}:{line}"))
    return found


def put_files(name, folder):
    """Python blocks that begin with '# file: NAME' are files beside the models of their document."""
    for parameter in blocks("python"):
        document, source = parameter.values
        title = re.match(r"# file: (\S+)\n", source)
        if document == name and title:
            (folder / title[1]).write_text(source)


@every_document
def test_document_stands_alone(name):
    """No paths out of the repository, plain ASCII."""
    text = text_of(name)
    assert text.isascii(), re.findall(r"[^\x00-\x7f]", text)
    assert not re.search(r"\.\./shared|/work/|\bdesign\.md|\bstyle\.md|\bspecs?[ /]\d", text, re.IGNORECASE)


@every_document
def test_links_lead_to_files(name):
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(name)):
        if not re.match(r"[a-z]+:", target):
            path = target.partition("#")[0]
            assert not path or ((ROOT / name).parent / path).exists(), f"{name} links to {target}"


@pytest.mark.parametrize("name", ["docs/architecture.md", "docs/notation.md", "docs/adding.md", "CONTRIBUTING.md"])
def test_source_paths_exist(name):
    """`kernels/dynamics.py` and the like; files yet to be made are marked (new)."""
    found = re.findall(r"`([\w./-]+/|[\w./-]+\.(?:py|md|toml))`(?! \(new\))", text_of(name))
    assert len(found) > 5
    # folders that the page itself calls future ones
    future = {"kernels/closures/"}
    for path in set(found) - future:
        homes = (ROOT, PACKAGE, PACKAGE / "kernels", ROOT / "docs")
        assert any((home / path).exists() for home in homes), f"{name} names {path}"


@pytest.mark.parametrize(("name", "source"), blocks("toml"))
def test_toml_block_loads(name, source, tmp_path):
    """Models marked '# complete' and sidecars load; the rest is TOML with keys of a model file."""
    if source.startswith("# sidecar"):
        shutil.copy(ROOT / "examples" / "lifter.urdf", tmp_path)
        (tmp_path / "model.toml").write_text(source)
        assert load(tmp_path / "model.toml").duration
    elif source.startswith("# complete\n"):
        put_files(name, tmp_path)
        (tmp_path / "model.toml").write_text(source)
        assert load_model(tmp_path / "model.toml", trust=True).duration
    else:
        assert set(tomllib.loads(source)) <= set(SCHEMA["properties"])


@pytest.mark.parametrize(("name", "source"), blocks("python"))
def test_python_block_runs(name, source, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(source, name, "exec"), {"__name__": "example"})


# --- docs/models.md against the schema ----------------------------------------------------------------------------


LAWS = {law.__name__: law for law in (*NORMAL_LAWS, *FRICTION_LAWS)}


# but the laws, which have a row each
PARTS = {"Model": SCHEMA, **{name: part for name, part in SCHEMA["$defs"].items() if name not in LAWS}}


def documented(part):
    """Lines (key | type | unit | default | meaning) of the first table below the heading of a part, by key."""
    found = re.search(rf"^#+ {part}:.*?$(.*?)(?=^#|\Z)", text_of("docs/models.md"), re.MULTILINE | re.DOTALL)
    assert found, f"docs/models.md has no heading {part}"
    # the heading of the table and the rule below it come first
    lines = found[1].split("\n\n| ")[1].split("\n\n")[0].strip().splitlines()[2:]
    return {line.split("|")[1].strip(" `"): line for line in lines}


def default_of(line):
    """The fourth cell: required, nothing, or a TOML value."""
    cell = line.split("|")[4].strip()
    return cell if cell in ("required", "-") else tomllib.loads(f"x = {cell.strip('`')}")["x"]


@pytest.mark.parametrize("part", PARTS)
def test_every_key_of_a_model_file_is_explained_with_its_default(part):
    definition = PARTS[part]
    lines = documented(part)
    assert set(lines) == set(definition["properties"])
    for key, value in definition["properties"].items():
        found, default = default_of(lines[key]), value.get("default")
        if key in definition.get("required", ()):
            assert found == "required", key
        elif default is None or default == []:
            assert found == "-", key
        else:
            # a table stands for its kind or value
            allowed = list(default.values()) if isinstance(default, dict) else [default]
            assert found in allowed, key


@pytest.mark.parametrize("name", LAWS)
def test_every_law_is_explained_with_its_parameters(name):
    law = LAWS[name]
    assert name in SCHEMA["$defs"]
    needs = ", ".join(f"`{each.name}`" for each in law.parameters() if each.is_needed)
    others = [each for each in law.parameters() if not each.is_needed]
    may = ", ".join(f"`{p.name}`" + (f" ({p.default:g})" if p.default is not None else "") for p in others)
    assert f"| `{law.name}` | {name} | {law.summary} | {needs} | {may} |" in text_of("docs/models.md")
    family = "NormalLaw" if issubclass(law, NormalLaw) else "Friction"
    for each in law.parameters():
        line = documented(family)[each.name]
        # units in brackets stand for all laws
        assert set(each.unit.split(", ")) <= set(line.split("|")[3].strip().split(", ")), each.name


def test_every_option_of_a_run_is_explained_with_its_default():
    lines = documented("Run")
    assert list(lines) == list(FILE_OPTIONS)
    for name, line in lines.items():
        option = RUN_OPTIONS[name]
        _, _, kind, unit, _, words, _ = (cell.strip() for cell in line.split("|"))
        assert (unit, words) == (option.unit, option.words)
        assert default_of(line) == ("-" if option.default is None else option.default)
        assert all(f'`"{choice}"`' in kind for choice in option.choices)


def test_every_choice_of_a_model_file_is_explained():
    text = text_of("docs/models.md")
    for part, definition in PARTS.items():
        for key, value in definition["properties"].items():
            for choice in value.get("enum", ()):
                assert f"`{choice}`" in text or f'`"{choice}"`' in text, f"{part}.{key}: {choice}"


# --- docs/architecture.md and docs/notation.md against the code ---------------------------------------------------


def test_architecture_names_every_contract():
    contracts = re.findall(r"^(\w+) = Contract\(", (PACKAGE / "kernels" / "_jit.py").read_text(), re.MULTILINE)
    assert len(contracts) > 10
    for contract in contracts:
        assert f"`{contract}`" in text_of("docs/architecture.md"), contract


@pytest.mark.parametrize("tables", [System, Work, Memory])
def test_architecture_names_every_table(tables):
    for field in tables._fields:
        assert f"`{field}`" in text_of("docs/architecture.md"), field


def test_architecture_names_every_return_code():
    for status in Status:
        assert f"`{status.name}`" in text_of("docs/architecture.md"), status.name


def test_architecture_names_every_room_and_module():
    rooms = [f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    for name in (*rooms, *(path.name for path in PACKAGE.glob("*.py"))):
        assert f"`{name}`" in text_of("docs/architecture.md"), name


def test_notation_names_every_work():
    for power in Power:
        assert f"work_{power.name.lower()}" in text_of("docs/notation.md")


# --- docs/equations.md against the kernels ------------------------------------------------------------------------

NUMBER = r"[KFNABGDL]\d+"


def cited_equations(path):
    """Numbers in brackets: (A4), (A4, A5), (D4 - D6), (K3) in parent axes."""
    groups = re.findall(rf"\(({NUMBER}(?:(?:, | - ){NUMBER})*)\)", path.read_text())
    return {number for group in groups for number in re.findall(NUMBER, group)}


def test_kernels_cite_equations_that_there_are():
    defined = set(re.findall(rf"^\(({NUMBER})\)", text_of("docs/equations.md"), re.MULTILINE))
    kernels = [*sorted((PACKAGE / "kernels").rglob("*.py")), PACKAGE / "system" / "formulation_work.py"]
    cited = {path: cited_equations(path) for path in kernels}
    for path, numbers in cited.items():
        assert numbers <= defined, f"{path.name} cites {sorted(numbers - defined)}"
    assert set().union(*cited.values()) == defined, "equations that no kernel cites"


@pytest.mark.parametrize(
    ("name", "letter"),
    [("articulated", "A"), ("boltzmann_hamel", "B"), ("gibbs_appell", "G"), ("denoc", "D"), ("lagrange", "L")],
)
def test_every_formulation_cites_its_equations(name, letter):
    files = (PACKAGE / "kernels" / "formulations").glob(f"{name}*.py")
    assert len({number for path in files for number in cited_equations(path) if number[0] == letter}) >= 8
