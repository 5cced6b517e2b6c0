"""Settings: layers, origins, and refusals that name the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag import places
from rag.chain.retrieve import WEIGHT
from rag.errors import EnvironmentFault, RagError, UsageError
from rag.settings import KEYS, Settings, load, user_file


def toml(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_each_layer_beats_the_weaker_ones(tmp_path: Path) -> None:
    user = toml(tmp_path / "user.toml", 'top = 1\nweight = 0.1\nmodel = "user"\nmax_tokens = 100')
    here = toml(tmp_path / "rag.toml", 'top = 2\nweight = 0.2\nmodel = "here"')
    environ = {"RAG_TOP": "3", "RAG_WEIGHT": "0.3"}
    settings = load({"top": 4, "model": None}, environ=environ, files=[user, here])
    assert (settings.top, settings.weight, settings.model, settings.max_tokens) == (4, 0.3, "here", 100)
    assert settings.origin("top") == "option --top"
    assert settings.origin("weight") == "environment variable RAG_WEIGHT"
    assert settings.origin("model") == f"{here}:3"
    assert settings.origin("max_tokens") == f"{user}:4"
    assert settings.origin("depth") == "default"


def test_default_files_are_the_users_and_the_one_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml(user_file(), "top = 3\nmax_tokens = 99")
    toml(tmp_path / "rag.toml", "top = 4")
    monkeypatch.chdir(tmp_path)
    settings = load(environ={})
    assert (settings.top, settings.max_tokens) == (4, 99)


@pytest.mark.parametrize(
    ("options", "environ", "mode", "why"),
    [
        ({}, {}, "extractive", "default"),
        ({"model": "m"}, {}, "model", "implied by model (option --model)"),
        ({}, {"OPENAI_API_KEY": "k"}, "model", "implied by api_key (environment variable OPENAI_API_KEY)"),
        (
            {},
            {"RAG_BASE_URL": "http://x/v1"},
            "model",
            "implied by base_url (environment variable RAG_BASE_URL)",
        ),
        ({"mode": "extractive"}, {"OPENAI_API_KEY": "k"}, "extractive", "option --mode"),
    ],
)
def test_mode_is_implied_by_anything_about_a_model(
    options: dict[str, object], environ: dict[str, str], mode: str, why: str
) -> None:
    settings = load(options, environ=environ, files=())
    assert (settings.mode, settings.origin("mode")) == (mode, why)


def test_own_variables_beat_borrowed_ones_in_any_order() -> None:
    environ = {"RAG_API_KEY": "ours", "OPENAI_API_KEY": "theirs", "OPENAI_BASE_URL": "http://h/v1/"}
    settings = load(environ=environ, files=())
    assert (settings.api_key, settings.base_url) == ("ours", "http://h/v1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("modle = 'x'", "rag.toml:1). Did you mean 'model'?"),
        ("# one\n\ntop = 'many'", "Bad top 'many' ({file}:3): must be a whole number from 1 to 1000."),
        ("top = true", "must be a whole number"),
        ("top = 2.5", "must be a whole number"),
        ("top = inf", "must be a whole number from 1 to 1000"),
        ("top = nan", "must be a whole number from 1 to 1000"),
        ("weight = nan", "must be a number from 0 to 1"),
        (f"timeout = {'9' * 400}", "must be a number from 0.1 to 3600"),
        ("[prices]\nmine = [0.1, inf]", "mine needs two prices"),
        ("weight = 2", "must be a number from 0 to 1"),
        ("keep_unsupported = 'perhaps'", "must be true or false"),
        ("base_url = 'localhost:11434'", "must be an address that starts with http:// or https://"),
        (
            "base_url = 'https://bob:hunter2@host/v1'",
            "Bad base_url value ({file}:1): must not hold a name and",
        ),
        ("chroma_url = 'http://bob@host:8000'", "must not hold a name and password; a key has a setting"),
        ("depth = 'deeper'", "must be one of quick, normal, deep"),
        ("model = ''", "must be a text that is not empty"),
        ("mode = []", "must be one of extractive, model"),
        ("[prices]\nmine = [1]", "mine needs two prices"),
        ("prices = 3", "must be a table"),
        ("top = ", "is not valid TOML"),
        ("[section]\ntop = 3", "Unknown setting 'section'"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = toml(tmp_path / "rag.toml", text)
    with pytest.raises(UsageError) as caught:
        load(environ={}, files=[file])
    assert message.format(file=file) in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bad_variable_is_named() -> None:
    with pytest.raises(UsageError, match=r"Bad top 'x' \(environment variable RAG_TOP\)"):
        load(environ={"RAG_TOP": "x"}, files=())


def test_only_a_near_miss_of_ours_is_refused_in_the_environment() -> None:
    assert load(environ={"RAG_TAG_OF_ANOTHER_PROGRAM": "x", "RAG_TOP": ""}, files=()) == load(
        environ={}, files=()
    )
    with pytest.raises(UsageError, match=r"RAG_MODLE.*Did you mean RAG_MODEL"):
        load(environ={"RAG_MODLE": "x"}, files=())


@pytest.mark.parametrize("name", ["RAG_PRICES", "RAG_PRICE"])
def test_a_table_in_the_environment_is_refused_with_where_it_goes(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} cannot set prices") as caught:
        load(environ={name: "x"}, files=())
    assert "Did you mean" not in str(caught.value)
    assert caught.value.remedy == f"Unset it, and write [prices] in {user_file()} or rag.toml."


def test_a_secret_never_shows(tmp_path: Path) -> None:
    settings = load(environ={"OPENAI_API_KEY": "sk-verysecret-1234"}, files=())
    assert settings.shown("api_key") == "…1234"
    assert "verysecret" not in repr(settings)
    assert load(environ={"RAG_API_KEY": "short"}, files=()).shown("api_key") == "…"
    file = toml(tmp_path / "rag.toml", "api_key = 123456")
    with pytest.raises(UsageError) as caught:
        load(environ={}, files=[file])
    assert "123456" not in str(caught.value)


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path) -> None:
    file = toml(tmp_path / "rag.toml", "index = 'idx'\nprompts = '/abs'")
    settings = load(environ={"RAG_DATA_DIR": "~/d"}, files=[file])
    assert (settings.index, settings.prompts) == (tmp_path / "idx", Path("/abs"))
    assert settings.data_dir == Path.home() / "d"


def test_prices_are_a_table(tmp_path: Path) -> None:
    file = toml(tmp_path / "rag.toml", "[prices]\n'my-model' = [0.1, 2]")
    assert dict(load(environ={}, files=[file]).prices) == {"my-model": (0.1, 2.0)}


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(EnvironmentFault, match=r"folder\.toml cannot be read"):
        load(environ={}, files=[tmp_path / "folder.toml"])
    (tmp_path / "latin.toml").write_bytes(b"model = '\xe9'")
    with pytest.raises(RagError, match="not a UTF-8"):
        load(environ={}, files=[tmp_path / "latin.toml"])


def test_every_setting_can_be_converted_and_shown() -> None:
    settings = Settings()
    assert [settings.shown(key) for key in KEYS if settings.shown(key) == ""] == []
    with pytest.raises(UsageError, match="Unknown setting 'origins'"):
        load({"origins": "x"}, environ={}, files=())


def test_every_setting_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[1] / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [key for key in KEYS if f"`{key}`" not in page] == []


def test_the_default_weight_is_the_measured_one() -> None:
    assert Settings().weight == WEIGHT


def test_a_folder_or_a_server_whichever_is_named_closer(tmp_path: Path) -> None:
    both = toml(tmp_path / "rag.toml", 'chroma_url = "http://a:1"')
    environ = {"RAG_INDEX": "/folder"}
    settings = load(environ=environ, files=[both])
    assert (settings.index, settings.chroma_url) == (Path("/folder"), None)
    settings = load({"chroma_url": "http://b:2"}, environ=environ, files=[both])
    assert (settings.index, settings.chroma_url) == (None, "http://b:2")
    assert "index" not in settings.origins
    with pytest.raises(
        UsageError, match=r"\(environment variable RAG_INDEX\) excludes a server \(environment"
    ):
        load(environ={**environ, "RAG_CHROMA_URL": "http://c:3"}, files=())


def test_a_key_alone_means_chroma_cloud() -> None:
    settings = load(environ={"RAG_CHROMA_API_KEY": "ck-0123456789"}, files=())
    assert settings.chroma_url == "https://api.trychroma.com"
    assert (
        settings.origin("chroma_url") == "implied by chroma_api_key (environment variable RAG_CHROMA_API_KEY)"
    )
    assert "ck-0123456789" not in repr(settings) + settings.shown("chroma_api_key")
    own = {"RAG_CHROMA_API_KEY": "ck-0123456789", "RAG_CHROMA_URL": "http://own:8000"}
    assert load(environ=own, files=()).chroma_url == "http://own:8000"
    assert load({"index": "/folder"}, environ={"RAG_CHROMA_API_KEY": "k"}, files=()).chroma_url is None


def test_the_sample_is_meant_by_its_name_unless_a_folder_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load({"index": Path("sample"), "data_dir": tmp_path / "data"}, environ={}, files=())
    assert places.reading(settings).kind == "sample"
    (tmp_path / "sample").mkdir()
    assert places.reading(settings) == places.Place(Path("sample"), "named")
