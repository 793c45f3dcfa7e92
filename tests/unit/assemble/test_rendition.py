from haversack.assemble import Rendition
from haversack.assemble.rendition import query_words, shorter_forms

TEXT = "We met on Monday. The pottery class starts in June. Nobody was late. Bring an apron."


def forms(content: str, query: str = "") -> list[tuple[Rendition, str]]:
    return [(form.rendition, form.words) for form in shorter_forms(content, "ID", query_words(query))]


def test_the_best_sentences_for_the_query_stay_in_their_order() -> None:
    shortest = [words for kind, words in forms(TEXT, "pottery apron") if kind is Rendition.SHORTENED]
    assert shortest[0] == "We met on Monday. The pottery class starts in June. … Bring an apron."
    assert shortest[-1] == "… The pottery class starts in June. …"


def test_without_a_query_the_first_sentences_stay() -> None:
    assert forms(TEXT)[1][1] == "We met on Monday. The pottery class starts in June. …"


def test_forms_get_shorter_and_end_with_a_pointer() -> None:
    found = forms(TEXT * 5, "June")
    sizes = [len(words) for _, words in found]
    assert sizes == sorted(set(sizes), reverse=True)
    assert found[-1] == (Rendition.POINTER, "[ID] We met on Monday. The…")


def test_a_child_line_keeps_its_parent() -> None:
    content = "Acme\n  office: Rome\n  pottery: blue\nZenith\n  office: Oslo\n  size: 40"
    shortest = forms(content, "pottery")[-2][1]
    assert shortest == "Acme\n…\n  pottery: blue\n…"


def test_chinese_and_japanese_are_cut_at_their_own_stops() -> None:
    content = "明日は図書館で会議をする。昨日は雨だった。来週は休みです。"
    assert "図書館で会議" in forms(content, "図書館")[-2][1]
    assert query_words("図書館") == {"図書", "書館"}


def test_text_without_any_boundary() -> None:
    found = forms("a" * 5000)
    assert all(len(words) < 5000 for _, words in found)
    assert forms("") == []
    assert forms("ok") == []
