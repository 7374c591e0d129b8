"""Tables that notebooks show."""

from tunehost.tune._table import Table


def test_a_table_is_text_and_html() -> None:
    table = Table(["two <trials>"], [["trial", "opt"], ["a", "<b>sgd</b>"], ["longer", ""]], ["1 & 2"])
    bundle = table._repr_mimebundle_()
    assert bundle["text/plain"] == "two <trials>\ntrial   opt\na       <b>sgd</b>\nlonger\n1 & 2"
    assert bundle["text/html"] == (
        "<div>two &lt;trials&gt;</div><table><thead><tr><th>trial</th><th>opt</th></tr></thead><tbody>"
        "<tr><td>a</td><td>&lt;b&gt;sgd&lt;/b&gt;</td></tr><tr><td>longer</td><td></td></tr></tbody></table>"
        "<div>1 &amp; 2</div>")
