"""Map, search, panel, explanation, hostile ids, empty graph, keyboard, dark mode, exports."""

import csv
import io
import time

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed: make test-browser")

COLOURS = """() => {
  const shot = window.bivecMap.picture();
  const { data } = shot.getContext("2d").getImageData(0, 0, shot.width, shot.height);
  const seen = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const key = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
    seen.set(key, (seen.get(key) || 0) + 1);
  }
  return [...seen.entries()].sort((a, b) => b[1] - a[1]);
}"""


def until(page, condition, argument=None, seconds=15):
    """Wait for a condition; Playwright's own way needs eval, which the page's policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition, argument):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def place_of(page, row):
    """Return where on the page a row of the map is."""
    box = page.locator("#stage").bounding_box()
    x, y = page.evaluate("row => window.bivecMap.toPixel(row)", row)
    return box["x"] + x, box["y"] + y


def lonely(page):
    """Return a row whose point no other point is near."""
    return page.evaluate("""() => {
      const map = window.bivecMap;
      let best = -1, far = 0;
      for (let i = 0; i < map.n; i++) {
        let gap = 1e9;
        for (let j = 0; j < map.n; j++) if (j !== i) gap = Math.min(gap,
          Math.hypot(map.places[2*i] - map.places[2*j], map.places[2*i+1] - map.places[2*j+1]));
        if (gap > far) { far = gap; best = i; }
      }
      return best;
    }""")


def open_node(page, words):
    page.fill("#query", words)
    page.wait_for_selector("#suggestions [role=option] .name")
    page.press("#query", "Enter")
    page.wait_for_selector("#recommended .row, #recommended .lead")
    page.wait_for_selector("#similar .row, #similar .lead")


@pytest.mark.parametrize(
    "plain, kind", [("?webgl", "webgl"), ("?pixels", "pixels"), ("", "pixels")]
)
def test_the_map_is_drawn_in_the_colours_of_the_legend(films, visit, plain, kind):
    page = visit(films + plain)
    assert page.evaluate("window.bivecMap.drawer.kind") == kind
    assert page.evaluate("window.bivecMap.n") == 200
    counts = page.evaluate(COLOURS)
    ground, drawn = counts[0], sum(n for _, n in counts[1:])
    assert ground[0] == 0xFBFBF9
    assert drawn > 2000
    # each legend colour covers part of the map
    for dot in page.locator(".legend .dot").all():
        tone = dot.evaluate("e => getComputedStyle(e).backgroundColor")
        r, g, b = (int(part) for part in tone[4:-1].split(","))
        near = sum(
            n for key, n in counts
            if max(abs((key >> 16) - r), abs((key >> 8 & 255) - g), abs((key & 255) - b)) < 40
        )  # fmt: skip
        assert near > 100


def test_both_ways_of_drawing_show_the_same(films, visit):
    drawn = []
    for plain in ("?webgl", "?pixels"):
        page = visit(films + plain)
        drawn.append(sum(n for _, n in page.evaluate(COLOURS)[1:]))
    assert drawn[0] == pytest.approx(drawn[1], rel=0.35)


@pytest.mark.parametrize(
    "broken",
    [
        "getContext = function (kind, more) {"
        " return kind === 'webgl' ? null : old.call(this, kind, more); }",
        "getContext = function (kind, more) { const c = old.call(this, kind, more);"
        " if (kind === 'webgl') c.linkProgram = () => {}; return c; }",
    ],
)
def test_without_a_working_webgl_pixels_are_written(films, browser, broken):
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(
        "const kind = HTMLCanvasElement.prototype; const old = kind.getContext; kind." + broken
    )
    page.goto(films + "?webgl")
    page.wait_for_selector("body[data-ready]")
    assert page.evaluate("window.bivecMap.drawer.kind") == "pixels"
    assert sum(n for _, n in page.evaluate(COLOURS)[1:]) > 2000
    context.close()


def test_search_leads_to_a_node_and_its_address_can_be_shared(films, visit):
    page = visit(films)
    page.fill("#query", "VIEWER 01")
    page.wait_for_selector("#suggestions [role=option] .name")
    names = page.locator("#suggestions .name").all_text_contents()
    assert len(names) == 10
    assert all(name.startswith("viewer 01") for name in names)
    page.fill("#query", "Comedy 03")
    until(page, "document.querySelector('#suggestions .name')?.textContent === 'Comedy 03'")
    page.press("#query", "Enter")
    page.wait_for_selector("#recommended .row")
    assert page.locator("#panel h2").text_content() == "Comedy 03"
    assert page.url.endswith("#/right/Comedy%2003")
    assert page.locator("[role=radio][aria-checked=true]").text_content().startswith("movies")
    again = visit(page.url)
    again.wait_for_selector("#recommended .row")
    assert again.locator("#panel h2").text_content() == "Comedy 03"
    assert again.evaluate("window.bivecMap.chosen") >= 0
    page.go_back()
    until(page, "document.querySelector('#panel h2').textContent === 'films'")


def test_a_search_without_a_hit_says_so(films, visit):
    page = visit(films)
    page.fill("#query", "no such id")
    page.wait_for_selector("#suggestions .nothing")
    assert "Nothing contains this" in page.locator("#suggestions").text_content()
    page.press("#query", "Enter")
    assert page.locator("#panel h2").text_content() == "films"


def test_a_click_on_a_point_opens_it(films, visit):
    page = visit(films)
    row = lonely(page)
    x, y = place_of(page, row)
    page.mouse.move(x, y)
    page.wait_for_selector("#tip:not([hidden])")
    name = page.locator("#tip b").text_content()
    assert name == f"viewer {row + 1:03d}"
    page.mouse.click(x, y)
    page.wait_for_selector("#recommended .row")
    assert page.locator("#panel h2").text_content() == name


def test_through_recommendation_and_explanation(films, visit):
    page = visit(films)
    open_node(page, "viewer 007")
    assert page.locator("#recommended .row").count() == 10
    assert page.locator("#similar .row").count() == 10
    known = page.locator("#known .go").all_text_contents()
    recommended = page.locator("#recommended .go").all_text_contents()
    assert known
    assert not set(known) & set(recommended)
    page.locator("#recommended .why").first.click()
    page.wait_for_selector("#recommended .because ol")
    text = page.locator(".because").text_content()
    assert f"viewer 007 is not linked to {recommended[0]}" in text
    path = page.locator(".because .path").first.locator(".go").all_text_contents()
    assert path[0] == "viewer 007"
    assert path[1] in known
    assert path[3] == recommended[0]
    page.locator("#recommended .why").first.click()
    assert page.locator(".because").count() == 0
    page.locator("#recommended .go").first.click()
    until(page, "t => document.querySelector('#panel h2').textContent === t", recommended[0])
    page.wait_for_selector("#recommended .row")
    assert "viewers" in page.locator("#recommended h3").text_content()


def test_the_other_side_shows_neighbours_and_recommendations(films, visit):
    page = visit(films)
    open_node(page, "viewer 007")
    page.get_by_role("button", name="Show movies").click()
    until(page, "window.bivecMap.n === 80 && window.bivecMap.marked.length > 10")
    kinds = page.evaluate("window.bivecMap.marked.map((m) => m.kind)")
    assert kinds.count("pick") == 10
    assert kinds.count("known") == page.locator("#known .row").count()
    assert page.locator("#panel h2").text_content() == "viewer 007"
    assert "map=right" in page.url


def test_colours_and_legend(films, visit):
    page = visit(films)
    assert page.locator("#colour option").all_text_contents() == ["community", "degree", "taste"]
    page.select_option("#colour", "taste")
    until(page, "document.querySelector('.legend h2').textContent === 'taste'")
    assert len(page.locator(".legend .name").all_text_contents()) == 4
    before = sum(n for _, n in page.evaluate(COLOURS)[1:6])
    page.locator(".legend button").first.click()
    assert page.locator(".legend button[aria-pressed=true]").count() == 1
    page.wait_for_timeout(100)
    assert sum(n for _, n in page.evaluate(COLOURS)[1:6]) != before
    page.locator(".legend button").first.click()
    assert page.locator(".legend button[aria-pressed=true]").count() == 4
    page.select_option("#colour", "degree")
    page.wait_for_selector(".legend .ramp")
    assert "colour=degree" in page.url


def test_by_keyboard_alone(films, visit):
    page = visit(films)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("viewer 00")
    page.wait_for_selector("#suggestions [role=option] .name")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("#suggestions [aria-selected=true] .name").text_content()
    page.keyboard.press("Enter")
    until(page, "t => document.querySelector('#panel h2').textContent === t", chosen)
    page.keyboard.press("Escape")
    until(page, "document.querySelector('#panel h2').textContent === 'films'")
    page.focus("#stage")
    before = page.evaluate("({ ...window.bivecMap.view })")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    after = page.evaluate("({ ...window.bivecMap.view })")
    assert after["x"] > before["x"]
    assert after["k"] > before["k"]
    page.keyboard.press("0")
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_selector("#tip:not([hidden])")
    first = page.evaluate("window.bivecMap.hovered")
    page.keyboard.press("Shift+ArrowRight")
    second = page.evaluate("window.bivecMap.hovered")
    assert page.evaluate("([a, b]) => bivecMap.places[2*b] > bivecMap.places[2*a]", [first, second])
    page.keyboard.press("Enter")
    page.wait_for_selector("#recommended .row")
    assert page.locator("#panel h2").text_content() == f"viewer {second + 1:03d}"
    page.keyboard.press("s")
    until(page, "window.bivecMap.n === 80")
    page.keyboard.press("c")
    until(page, "document.querySelector('.legend h2').textContent === 'degree'")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    # every control is reached by Tab and shows where one is
    page.focus("#home")
    reached = set()
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"query", "colour", "png", "csv", "theme", "keys", "stage"} <= reached


@pytest.mark.parametrize("scheme, ground", [("light", 0xFBFBF9), ("dark", 0x14161A)])
def test_light_and_dark(films, visit, scheme, ground):
    page = visit(films, color_scheme=scheme)
    assert page.evaluate(COLOURS)[0][0] == ground
    page.click("#theme")
    page.wait_for_timeout(100)
    assert page.evaluate(COLOURS)[0][0] == {0xFBFBF9: 0x14161A, 0x14161A: 0xFBFBF9}[ground]
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.evaluate(COLOURS)[0][0] != ground


def test_exports(films, visit):
    page = visit(films)
    with page.expect_download() as caught:
        page.click("#png")
    picture = caught.value.path().read_bytes()
    assert caught.value.suggested_filename == "films-left.png"
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 5000
    with page.expect_download() as caught:
        page.click("#csv")
    rows = list(csv.DictReader(io.StringIO(caught.value.path().read_text(encoding="utf-8"))))
    assert len(rows) == 200
    assert rows[0]["id"] == "viewer 001"
    assert rows[0]["community"].startswith("community ")
    page.evaluate("window.bivecMap.zoom(8)")
    page.wait_for_timeout(400)
    with page.expect_download() as caught:
        page.click("#csv")
    shown = list(csv.DictReader(io.StringIO(caught.value.path().read_text(encoding="utf-8"))))
    assert len(shown) < 200
    open_node(page, "viewer 007")
    page.wait_for_timeout(200)
    with page.expect_download() as caught:
        page.get_by_role("button", name="CSV", exact=True).last.click()
    lists = list(csv.DictReader(io.StringIO(caught.value.path().read_text(encoding="utf-8"))))
    assert {row["relation"] for row in lists} == {"recommended", "neighbour", "similar"}


def test_hostile_ids_are_only_text(hostile, visit):
    script = "<script>window.harmed = 1</script>"
    page = visit(hostile)
    assert page.locator("#title").text_content() == script
    open_node(page, "<script>")
    assert page.locator("#panel h2").text_content() == script
    assert page.locator("#known .go").all_text_contents()[0].startswith("<img src=x")
    page.locator("#recommended .why").first.click()
    page.wait_for_selector(".because p:not(.pulse)")
    assert script in page.locator(".because p").first.text_content()
    page.locator("#known .go").first.click()
    until(page, "document.querySelector('#panel h2').textContent.startsWith('<img')")
    page.wait_for_selector("#recommended .row, #recommended .lead")
    again = visit(page.url)
    assert (
        again.locator("#panel h2").text_content()
        == '<img src=x onerror="window.harmed = 1">/../?a=b#c&d%20'
    )
    for key in ("a/b?c#d", "..", "Zoë 日本"):
        page.fill("#query", key)
        until(page, "k => document.querySelector('#suggestions .name')?.textContent === k", key)
        page.press("#query", "Enter")
        until(page, "k => document.querySelector('#panel h2').textContent === k", key)
        page.wait_for_selector("#similar .row")
    for one in (page, again):
        assert one.evaluate("window.harmed") is None
        assert (
            one.evaluate("document.querySelectorAll('main img, main script, main b > b').length")
            == 0
        )


def test_names_stand_for_ids(named, visit):
    page = visit(named + "#/right/3")
    page.wait_for_selector("#recommended .row, #recommended .lead")
    page.wait_for_selector("#similar .row")
    assert page.locator("#panel h2").text_content() == "Film <3>"
    assert "id3" in page.locator(".facts").text_content()
    assert page.locator("#similar .go").first.text_content().startswith("Film <")
    page.locator("#recommended .why").first.click()
    page.wait_for_selector(".because .path")
    assert "Film <" in page.locator(".because .path").first.text_content()
    page.fill("#query", "film <1>")
    until(page, "document.querySelector('#suggestions .name')?.textContent === 'Film <1>'")
    page.press("#query", "Enter")
    until(page, "document.querySelector('#panel h2').textContent === 'Film <1>'")
    assert page.url.endswith("#/right/1")


def test_an_empty_graph_has_words_for_it(empty, visit):
    page = visit(empty)
    assert "Nothing to show" in page.locator("#empty").text_content()
    page.keyboard.press("s")
    until(page, "document.querySelector('#empty').textContent.includes('right side')")
    page.fill("#query", "a")
    page.wait_for_selector("#suggestions .nothing")


def test_an_unknown_node_and_a_broken_address_are_explained(films, visit):
    page = visit(films + "#/left/Viewer%20007x")
    page.wait_for_selector("#panel .fault")
    assert "did you mean" in page.locator("#panel .fault").text_content()
    page.get_by_role("button", name="Back to the whole").click()
    until(page, "document.querySelector('#panel h2').textContent === 'films'")
    other = visit(films + "#/left/%E0%A4%A")
    assert "cannot be read" in other.locator("#toast").text_content()
    # the browser itself reports the 404 on the console
    visit.said[:] = [text for text in visit.said if "404" not in text]


def test_a_server_that_is_gone_is_said(films, visit):
    page = visit(films)
    page.route("**/recommend*", lambda route: route.abort())
    page.fill("#query", "viewer 011")
    page.wait_for_selector("#suggestions .name")
    page.press("#query", "Enter")
    page.wait_for_selector("#recommended .fault")
    assert "does not answer" in page.locator("#recommended .fault").text_content()
    visit.said[:] = [text for text in visit.said if "ERR_FAILED" not in text]


def test_the_docs_page_works_without_the_net(films, visit):
    page = visit(films + "docs")
    headings = page.locator("article h3 code").all_text_contents()
    assert {"/recommend", "/similar", "/explain", "/healthz"} <= set(headings)


def test_a_small_window(films, visit):
    page = visit(films)
    page.set_viewport_size({"width": 420, "height": 800})
    open_node(page, "viewer 007")
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert page.locator("#recommended .row").first.is_visible()
