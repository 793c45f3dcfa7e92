from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import msgspec
import pytest

import haversack
from haversack.cli.app import EXIT_CODES, GROUPS, program

from .conftest import Run


def test_help_groups_every_command_and_lists_the_exit_codes(run: Run) -> None:
    answer = run("--help")
    assert answer.code == 0
    for title, commands in GROUPS.items():
        assert f"{title}:" in answer.out
        for command in commands:
            assert f"\n  {command} " in answer.out
    for code, meaning in EXIT_CODES.items():
        assert f"{code}  {meaning}" in answer.out


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    context = click.Context(program)
    for group in GROUPS.values():
        for name, entry in group.items():
            command = program.get_command(context, name)
            assert command is not None
            assert entry.summary == command.get_short_help_str(90)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["nonsense"]])
def test_what_needs_no_engine_loads_none(arguments: list[str]) -> None:
    code = (
        "import sys; from haversack.cli import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: pass\n"
        "print(*(name for name in sys.modules if name.startswith(('haversack', 'numpy', 'msgspec', 'yaml'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    needed = {"haversack", "haversack.cli", "haversack.cli.app", "haversack.cli.harmless", "haversack.errors"}
    about_dashes = {"haversack.chat", "haversack.chat.dashes"}  # a refused command is told of dashes
    allowed = needed | {"haversack.lazy"} | (about_dashes if arguments == ["nonsense"] else set())
    assert set(done.stdout.splitlines()[-1].split()) == allowed


@pytest.mark.parametrize(
    "command",
    [
        *(name for group in GROUPS.values() for name in group),
        *(f"keys {name}" for name in ("create", "list", "rotate", "revoke")),
    ],
)
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    answer = run(*command.split(), "--help")
    assert answer.code == 0
    assert "\\b" not in answer.out
    assert "Example" in answer.out
    assert f"  haversack {command}" in answer.out


def test_a_wrong_command_names_the_nearest(run: Run) -> None:
    answer = run("recal", "x")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean 'recall'?" in answer.err


def test_what_another_embedder_left_is_counted_and_embedded_when_asked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "none.yaml").write_text("embedding: {name: none}")
    run("remember", "Alice sails a ship", "--config", "none.yaml")
    assert run("stats", "--config", "none.yaml", "--json").data["namespaces"]["default"]["unembedded"] == 0
    assert run("recall", "ship").code == 0
    assert run("stats", "--json").data["namespaces"]["default"]["unembedded"] == 1
    assert "haversack reembed -n default" in run("doctor").out
    done = run("reembed")
    assert (done.code, done.out) == (0, "1 embedded, 0 left without a vector\n")
    assert run("stats", "--json").data["namespaces"]["default"]["unembedded"] == 0
    assert "reembed" not in run("doctor").out
    assert run("reembed", "--json").data == {"embedded": 0, "left": 0}


def test_remember_recall_context_why_and_stats_agree(run: Run) -> None:
    kept = run("remember", "Alice prefers metric units", "--importance", "0.8", "--tag", "units", "--json").data[0]
    hits = run("recall", "which units?", "--json").data
    assert [(hit["memory"]["id"], hit["memory"]["tags"]) for hit in hits] == [(kept["id"], ["units"])]
    context = run("context", "which units?", "--budget", "40", "--model", "cl100k_base", "--json").data
    assert context["text"] == "- Alice prefers metric units\n\n"
    assert context["tokens"] == context["ledger"]["total"] == 6
    assert run("why", "which units?", kept["id"], "--json").data["verdict"] == "kept"
    assert run("stats", "--json").data["namespaces"]["default"]["memories"] == {"fact": 1}


def test_a_question_about_nothing_there_says_so(run: Run) -> None:
    for words in (
        "Alice prefers metric units",
        "Piano lessons are on Thursdays.",
        "Bo carries tablets.",
        "The kayak is red.",
        "Rent is due.",
    ):
        run("remember", words, "--store", "m.db")
    strange = ("Which enzyme cuts DNA at palindromes?", "--store", "m.db")
    empty = run("context", *strange)
    assert empty.out.strip() == ""
    assert "nothing is relevant enough" in empty.err
    assert run("context", *strange, "--json").data["unanswered"] is True
    assert run("context", *strange, "--min-relevance", "0").out.strip()
    assert run("recall", *strange, "--min-relevance", "0.05", "--json").data == []
    assert run("recall", "which units?", "--store", "m.db").out.splitlines()[0].split()[0] == "relevance"


def test_common_options_may_stand_before_the_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAVERSACK_STORE", "of-the-environment.db")
    before = ("--store", "first.db", "-n", "mira", "--json")
    kept = run(*before, "remember", "tea at four").data[0]["id"]
    assert [hit["memory"]["id"] for hit in run(*before, "recall", "tea").data] == [kept]
    assert run(*before, "recall", "tea", "-n", "bosun").data == []
    assert run(*before, "recall", "tea", "--store", "second.db").code == 3
    assert run("recall", "tea").code == 3
    assert run("--store", "first.db", "--config", "nope.yaml", "recall", "tea").code == 3
    assert run(*before, "keys", "list").data == []


def test_what_was_said_of_a_memory_is_kept(run: Run) -> None:
    said = ("--importance", "0", "--metadata", "cups=2", "--metadata", "colour=sea green")
    kept = run("remember", "tea at four", *said, "--json").data[0]
    assert (kept["importance"], kept["metadata"]) == (0, {"cups": 2, "colour": "sea green"})


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_text_comes_in_and_goes_out_whatever_the_terminal_can_show(tmp_path: Path, encoding: str) -> None:
    program = Path(sys.executable).with_name("haversack")
    env = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": encoding}

    def call(*args: str, given: bytes = b"") -> str:
        done = subprocess.run([program, *args], input=given, capture_output=True, check=False, cwd=tmp_path, env=env)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
        return done.stdout.decode("latin-1" if encoding == "latin-1" else "utf-8")

    call("remember", "-", given="茶 at four █\n".encode() + b"cut \xff short\n")
    shown = call("recall", "four") + call("context", "four", "--explain")
    assert ("茶 at four █" in shown) is (encoding != "latin-1")


def test_tables_and_bars_for_people(run: Run) -> None:
    run("remember", "Alice prefers metric units")
    assert "Alice prefers metric units" in run("recall", "units").out
    explained = run("context", "units", "-b", "40", "--explain").out
    assert "- Alice prefers metric units" in explained
    assert "█" in explained
    assert "1 kept" in explained
    assert "1 fact" in run("stats").out
    assert "no sessions yet" in run("sessions").err


def test_lines_of_stdin_are_memories(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("tea at four\n\ncake at five\n"))
    assert [memory["content"] for memory in run("remember", "-", "--json").data] == ["tea at four", "cake at five"]


@pytest.mark.parametrize("stdin", ["</dev/null", "<&-"])
def test_a_stdin_without_lines_or_none_at_all(tmp_path: Path, stdin: str) -> None:
    line = f"{Path(sys.executable).with_name('haversack')} remember - {stdin}"
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("", "nothing came from stdin: nothing is remembered\n")


def test_a_folder_is_no_file_to_import(run: Run, tmp_path: Path) -> None:
    assert run("import", str(tmp_path)).err.startswith(f"bad: {tmp_path}: cannot be read: Is a directory\n")


def test_an_import_keeps_to_the_limits_of_the_settings(run: Run, tmp_path: Path) -> None:
    file, settings = tmp_path / "chat.jsonl", tmp_path / "s.yaml"
    file.write_text('{"role": "user", "content": "tea"}\n{"role": "user", "content": "%s"}\n' % ("long " * 50))
    settings.write_text("imports:\n  value_bytes: 100\n")
    answer = run("import", str(file), "--config", str(settings))
    assert (answer.code, "1 imported, 1 bad" in answer.out) == (1, True)
    assert "line 2: it has more bytes than one value may have (100)" in answer.err
    assert run("import", str(file), "--json").data["turns"] == 1


def test_forget_previews_until_told_to_act(run: Run) -> None:
    kept = run("remember", "a slip of the tongue", "--json").data[0]["id"]
    assert [run("forget", "--all", more).code for more in (kept, "--session=s")] == [2, 2]
    preview = run("forget", kept, "--hard")
    assert (preview.code, "would forget for good: 1 memories" in preview.out) == (0, True)
    assert "--execute" in preview.err
    assert len(run("recall", "slip", "--json").data) == 1
    refused = run("forget", kept, "--hard", "--execute")
    assert (refused.code, refused.err.startswith("nothing was forgotten")) == (1, True)
    done = run("forget", kept, "--hard", "--execute", "--yes", "--json").data
    assert (done["memories"], done["preview"]) == ([kept], False)
    assert run("recall", "slip", "--json").data == []


def test_a_soft_forget_is_undone_by_restore_memory(run: Run) -> None:
    kept = run("remember", "tea at four", "--json").data[0]["id"]
    assert run("forget", kept, "--execute").code == 0
    assert run("recall", "tea", "--json").data == []
    assert run("restore-memory", kept, "--json").data[0]["stage"] == "active"
    assert len(run("recall", "tea", "--json").data) == 1


def test_import_reports_bad_lines_and_export_gives_it_all_back(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"role": "user", "content": "tea at four"}\nnot json\n{"role": "assistant", "content": "noted"}\n')
    answer = run("import", str(file))
    assert answer.code == 1
    assert "2 imported, 1 bad (openai)" in answer.out
    assert "line 2" in answer.err
    assert run("import", str(file), "--json").data["known"] == 2
    assert run("export", "out.jsonl").code == 0
    again = run("import", "out.jsonl", "--store", "copy.db", "--json").data
    assert (again["turns"], again["memories"], again["bad"]) == (2, 2, 0)
    assert run("export", "again.jsonl", "--store", "copy.db").code == 0
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()
    strict = run("import", str(file), "--strict", "--store", "strict.db")
    assert (strict.code, "line 2" in strict.err) == (2, True)


def test_the_demo_answers_and_leaves_a_store_to_play_with(run: Run, tmp_path: Path) -> None:
    answers = run("demo", "--json").data
    assert len(answers) == 3
    for answer in answers:
        budgets = [(context["budget"], context["tokens"]) for context in answer["contexts"]]
        assert [budget for budget, _ in budgets] == [120, 250, 500]
        assert all(0 < tokens <= budget for budget, tokens in budgets)
        assert set(answer["contexts"][-1]["carried"]) == set(answer["evidence"])
    again = run("demo")
    assert "(0 new)" in again.out
    assert run("sessions", "-n", "mira", "--store", "haversack-demo.db", "--json").data[0]["turns"] > 0


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (("recall", "x", "--store", "nope.db"), 3, "no store at nope.db"),
        (("recall", ""), 2, "blank"),
        (("context", "x", "--budget", "-1"), 2, "budget=-1"),
        (("context", "x", "--layout", "flatt"), 2, "did you mean 'flat'"),
        (("recall", "x", "--kind", "fakt"), 2, "did you mean 'fact'"),
        (("recall", "x", "--where", "color"), 2, "FIELD=VALUE"),
        (("recall", "x", "--since", "someday"), 2, "since='someday'"),
        (("why", "x", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 3, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        (("import", "nope.json"), 3, "no such file: nope.json"),
        (("import", "x", "--format", "chatgtp"), 3, "no such file"),
        (("recall", "x", "--config", "nope.yaml"), 3, "nope.yaml"),
        (("remember", "  "), 2, "content must not be blank"),
        (("remember", "x", "--namespace", " "), 2, "namespace must not be blank"),
        (("remember", "x", "--metadata", "color"), 2, "--metadata 'color' must read FIELD=VALUE"),
        (("forget",), 2, "IDs, filters, or --all"),
        (("forget", "--tag", "x", "--session", ""), 2, "session must not be blank"),
        (("sessions", "nope"), 3, "no session 'nope'"),
        (("restore", "nope.snapshot"), 3, "no such file: nope.snapshot"),
    ],
)
def test_errors_say_what_to_do_and_have_their_exit_code(run: Run, args: tuple[str, ...], code: int, says: str) -> None:
    run("remember", "something")
    answer = run(*args)
    assert answer.code == code
    assert says in answer.err
    assert "Traceback" not in answer.err


def test_a_file_that_is_no_store_is_left_alone(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_text("just notes\n" * 100)
    answer = run("remember", "x", "--store", "notes.db")
    assert answer.code == 4
    assert file.read_text() == "just notes\n" * 100


def test_stored_text_is_shown_as_data(run: Run) -> None:
    run("remember", "[bold red]loud[/] \x1b[31mred\x1b[0m tea")
    shown = run("recall", "tea").out
    assert "[bold red]loud[/]" in shown
    assert "\x1b" not in shown


def test_a_filter_value_is_json_where_it_reads_as_json(run: Run) -> None:
    with haversack.open("haversack.db") as sack:
        ns = sack.namespace("default")
        two = ns.remember("tea for two", metadata={"cups": 2, "colour": "green"}).id
        text = ns.remember("tea in text", metadata={"cups": "2"}).id
    for given, found in (("cups=2", [two]), ('cups="2"', [text]), ("colour=green", [two]), ("cups=3", [])):
        hits = run("recall", "tea", "--where", given, "--json").data
        assert [hit["memory"]["id"] for hit in hits] == found


def test_the_program_starts_as_a_program_and_stops_at_a_closed_pipe(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("haversack")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.startswith("haversack ")
    module = [sys.executable, "-m", "haversack", "--version"]
    assert subprocess.run(module, capture_output=True, text=True, check=True, cwd=tmp_path).stdout == done.stdout
    piped = subprocess.run(
        ["/bin/bash", "-c", f"{program} --help | head -n 1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert piped.returncode in {0, 128 + signal.SIGPIPE}
    assert "Traceback" not in piped.stderr


@pytest.mark.parametrize("command", ["recall tea", "recall tea --json", "export"])
@pytest.mark.parametrize(("into", "code"), [("| true; exit ${PIPESTATUS[0]}", 0), ("> /dev/full", 1), (">&-", 0)])
def test_output_that_goes_nowhere(run: Run, tmp_path: Path, command: str, into: str, code: int) -> None:
    run("remember", "tea at four", "--store", "s.db")
    program = Path(sys.executable).with_name("haversack")
    line = f"{program} --store s.db {command} {into}"
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert ("haversack: No space left on device\n" in done.stderr) is (code == 1)


def test_an_export_goes_through_links_and_pipes_and_never_replaces_them(run: Run, tmp_path: Path) -> None:
    run("remember", "tea at four")
    (tmp_path / "link").symlink_to("target")
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        piped = pool.submit((tmp_path / "pipe").read_bytes)
        assert [run("export", name).code for name in ("link", "pipe")] == [0, 0]
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pipe").is_fifo()
    assert piped.result() == (tmp_path / "target").read_bytes()
    assert (run("export", "nowhere/x").code, run("export", ".").code) == (3, 2)


def test_variables_of_others_stop_no_command(tmp_path: Path) -> None:
    env = {
        **os.environ,
        "HAVERSACK_PORT": "tcp://10.0.0.1:80",
        "HAVERSACK_SERVICE_HOST": "10.0.0.1",
        "HAVERSACK_SHOP": "x",
    }
    program = [
        sys.executable,
        "-m",
        "haversack",
        "remember",
        "The boat lies in Bergen.",
        "--store",
        str(tmp_path / "a.db"),
    ]
    done = subprocess.run([*program, "--json"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, msgspec.json.decode(done.stdout)[0]["content"]) == (0, "The boat lies in Bergen.")
    assert done.stderr.splitlines() == [
        "the environment variable HAVERSACK_SHOP is not known: did you mean 'HAVERSACK_STORE'?"
    ]


def test_completion_is_offered(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("haversack")
    env = {**os.environ, "_HAVERSACK_COMPLETE": "bash_source"}
    done = subprocess.run([program], capture_output=True, text=True, check=False, cwd=tmp_path, env=env)
    assert "_haversack_completion" in done.stdout


def test_a_session_is_prompted_compacted_and_expanded(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    lines = [
        f'{{"role": "{"user" if n % 2 == 0 else "assistant"}", "content": "remark {n} on hotel {n}"}}'
        for n in range(40)
    ]
    file.write_text("\n".join(lines))
    run("import", str(file))
    session = run("sessions", "--json").data[0]["id"]
    prompt = run("prompt", session, "which hotel?", "--window", "700", "--output", "100", "--json").data
    assert prompt["ledger"]["total"] <= 600
    assert prompt["request"]["messages"][-1] == {"role": "user", "content": "which hotel?"}
    assert "there is no session 'typo' yet" in run("prompt", "typo", "which hotel?").err
    shown = run("prompt", session, "which hotel?", "--window", "700")
    assert "no session" not in shown.err
    assert [run(verb, "typo").code for verb in ("compact", "extract")] == [3, 3]
    assert "█" in shown.out
    assert "private content" in shown.err
    done = run("compact", session, "--json").data
    assert (done["outcome"], done["turns_summarized"] > 0) == ("done", True)
    behind = run("expand", session, done["summary"], "--json").data
    assert [turn["position"] for turn in behind] == list(range(done["turns_summarized"]))
    again = run("compact", session)
    assert (again.code, "nothing to compact" in again.out) == (0, True)
    assert run("expand", session, "nothing").code == 3


def test_tools_come_from_a_file_and_are_chosen_on_request(run: Run, tmp_path: Path) -> None:
    run("remember", "tea at four")
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name": "brew_tea", "description": "brew tea", "parameters": {}}, {"name": "mow_lawn"}]')
    answer = run("prompt", "s", "brew tea", "--window", "900", "--tools", str(tools), "--tool-budget")
    assert "left out" in answer.out
    assert "mow_lawn" in answer.out
    settings = tmp_path / "own.yaml"
    settings.write_text("memory: {tools: {always: [mow_lawn], most: 1}}")
    ask = ("prompt", "s", "brew tea", "--window", "900", "--tools", str(tools), "--tool-budget", "--json")
    by_default = str(run(*ask).data["request"]["tools"])
    by_setting = str(run(*ask, "--config", str(settings)).data["request"]["tools"])
    assert ("brew_tea" in by_default, "mow_lawn" in by_default) == (True, False)
    assert ("brew_tea" in by_setting, "mow_lawn" in by_setting) == (False, True)
    tools.write_text("{}")
    assert run("prompt", "s", "brew tea", "--window", "900", "--tools", str(tools)).code == 2


def test_bench_measures_a_file_of_ones_own(run: Run, tmp_path: Path) -> None:
    line = {
        "turns": [{"id": "1", "speaker": "Mira", "text": "The boat is called Petrel.", "at": "2026-01-01"}],
        "questions": [{"text": "What is the boat called?", "gold": ["1"]}],
    }
    (tmp_path / "mine.jsonl").write_bytes(msgspec.json.encode(line))
    args = ("bench", "mine.jsonl", "--embedder", "none", "--budget", "100")
    (scores,) = run(*args, "--out", "scores.json", "--chart", "recall.svg", "--json").data
    assert scores["by_budget"][0]["recall"] == 1
    assert (tmp_path / "recall.svg").read_text().startswith("<svg")
    beside = run(*args, "--beside", "scores.json")
    assert beside.out.count("haversack none") == 3
    (said_twice,) = run(*args, "--budget", "100", "--embedder", "none", "--json").data
    assert (said_twice["questions"], len(said_twice["by_budget"])) == (1, 1)
    assert run("bench", "nope.json").code == 3
    late = run("bench", "bad.json", "--chart", "no/recall.svg")  # told before anything is measured, or read
    assert (late.code, "there is no folder" in late.err) == (3, True)
    (tmp_path / "bad.json").write_text("{}")
    assert run("bench", "bad.json").code == 2


def test_recall_by_similarity_alone(run: Run) -> None:
    run("remember", "Tea at four", "--store", "m.db")
    (hit,) = run("recall", "tea", "--weights", "similarity", "--json", "--store", "m.db").data
    assert hit["parts"] == {"meaning": hit["score"]}
    refused = run("recall", "tea", "--weights", "similar", "--store", "m.db")
    assert refused.code != 0
    assert "similarity" in refused.err


@pytest.mark.parametrize(
    ("words", "command", "what"),
    [
        (("recall", "-5"), "haversack recall", "QUERY"),
        (("remember", "-5 degrees"), "haversack remember", "CONTENT"),
        (("remember", "- milk"), "haversack remember", "CONTENT"),
        (("why", "-q", "x"), "haversack why", "QUERY"),
        (("keys", "revoke", "-x"), "haversack keys revoke", "ID"),
    ],
)
def test_text_that_begins_with_a_dash_is_told_how_to_come_in(
    run: Run, words: tuple[str, ...], command: str, what: str
) -> None:
    answer = run(*words)
    assert answer.code == 2
    assert answer.err.splitlines()[-1] == (
        f"haversack: text that begins with a dash goes behind --, as in: {command} -- {what}"
    )


def test_behind_two_dashes_it_comes_in(run: Run) -> None:
    assert run("remember", "--json", "--", "-5 degrees").data[0]["content"] == "-5 degrees"
    assert run("recall", "--json", "--", "-5").code == 0


def test_a_misspelt_option_is_not_taken_for_text(run: Run) -> None:
    answer = run("recall", "q", "--tpo-k", "3")
    assert "--top-k" in answer.err
    assert "behind --" not in answer.err
    assert "behind --" not in run("stats", "-x").err


def test_a_key_is_revoked_by_its_name_where_only_one_live_key_has_it(run: Run) -> None:
    for name in ("phone", "phone", "laptop"):
        run("keys", "create", name)
    listed = run("keys", "list", "--json").data
    phones = [key["id"] for key in listed if key["name"] == "phone"]
    assert run("keys", "revoke", "laptop").code == 0
    twice = run("keys", "revoke", "phone")
    assert twice.code == 2
    assert twice.err == f"haversack: 2 live keys are called 'phone': name one by its id, {phones[0]} or {phones[1]}\n"
    assert run("keys", "revoke", phones[0]).code == 0
    assert run("keys", "revoke", "phone", "--json").data["id"] == phones[1]
    assert run("keys", "revoke", "phone").code == 3
    assert run("keys", "revoke", "nobody").code == 3


def test_the_name_of_a_key_in_its_grace_is_not_enough(run: Run) -> None:
    run("keys", "create", "phone")
    fresh = run("keys", "rotate", "phone", "--grace", "1h", "--json").data["key"]
    assert run("keys", "revoke", "phone").code == 2
    assert run("keys", "revoke", fresh["id"]).code == 0
