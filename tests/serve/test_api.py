"""The HTTP interface: answers, limits, and what it says when it has none."""

import json

import numpy as np
import pytest


def test_health(client, bare, empty):
    assert client.get("/healthz").json() | {"version": ""} == {
        "status": "ok", "version": "", "title": "films", "method": "example", "dim": 6,
        "left": 10, "right": 13, "edges": 40,
    }  # fmt: skip
    assert bare.get("/healthz").json()["edges"] is None
    assert empty.get("/healthz").json()["left"] == 0


def test_recommend_is_what_the_library_says(client, embedding):
    answer = client.get("/recommend", params={"id": "ann", "n": 5}).json()
    expected = embedding.recommend("ann", 5)
    assert [item["id"] for item in answer["items"]] == expected.ids
    assert [item["score"] for item in answer["items"]] == pytest.approx(expected.scores.tolist())
    assert (answer["side"], answer["found_on"]) == ("left", "right")
    assert not {"film 00", "film 01", "film 02", "film 03"} & set(expected.ids)


def test_recommend_from_the_right_and_with_known_ones(client):
    answer = client.get("/recommend", params={"id": "film 00", "side": "right", "n": 99}).json()
    assert answer["found_on"] == "left"
    assert "ann" not in [item["id"] for item in answer["items"]]
    everything = {"id": "film 00", "side": "right", "n": 99, "exclude_known": "false"}
    assert len(client.get("/recommend", params=everything).json()["items"]) == 10


def test_similar_is_what_the_library_says(client, embedding):
    answer = client.get("/similar", params={"id": "film 03", "side": "right", "n": 4}).json()
    expected = embedding.similar("film 03", side="right", n=4)
    assert [item["id"] for item in answer["items"]] == expected.ids


def test_explain_is_what_the_library_says(client, embedding):
    answer = client.get("/explain", params={"left": "ann", "right": "film 04", "n": 3}).json()
    expected = embedding.explain("ann", "film 04", n=3)
    assert answer["text"] == str(expected)
    assert answer["n_bridges"] == expected.n_bridges > 0
    assert answer["bridges"][0]["other"] == expected[0].other


def test_batches_report_the_unknown(client):
    body = {"ids": ["ann", "nobody", "bob"], "n": 2, "allow": ["film 07", "film 08", "no film"]}
    answer = client.post("/recommend", json=body).json()
    assert [result["id"] for result in answer["results"]] == ["ann", "bob"]
    assert answer["unknown"] == ["nobody", "no film"]
    for result in answer["results"]:
        assert {item["id"] for item in result["items"]} <= {"film 07", "film 08"}
    answer = client.post("/similar", json={"ids": ["nobody"]}).json()
    assert answer == {"results": [], "unknown": ["nobody"]}
    pairs = [{"left": "ann", "right": "film 04"}, {"left": "nobody", "right": "film 04"}]
    answer = client.post("/explain", json={"pairs": pairs}).json()
    assert [(r["left"], r["right"]) for r in answer["results"]] == [("ann", "film 04")]
    assert answer["unknown"] == ["nobody"]


def test_a_batch_is_the_same_as_one_by_one(client):
    ids = ["ann", "bob", "cy"]
    batch = client.post("/similar", json={"ids": ids, "n": 3}).json()["results"]
    single = [client.get("/similar", params={"id": key, "n": 3}).json() for key in ids]
    assert batch == single


def test_an_unknown_id_is_404_with_a_suggestion(client):
    answer = client.get("/recommend", params={"id": "Ann"})
    assert answer.status_code == 404
    assert "did you mean 'ann'?" in answer.json()["detail"]
    for path in ("/similar", "/recommend"):
        assert client.get(path, params={"id": "zzz"}).status_code == 404
    assert client.get("/explain", params={"left": "ann", "right": "zzz"}).status_code == 404
    assert client.get("/api/node", params={"id": "zzz", "side": "left"}).status_code == 404
    column = client.get("/api/column", params={"side": "left", "name": "zzz"})
    assert column.status_code == 404
    assert "'degree'" in column.json()["detail"]


@pytest.mark.parametrize(
    "path, params, words",
    [
        ("/recommend", {}, "query id: Field required"),
        ("/recommend", {"id": ""}, "at least 1 character"),
        ("/recommend", {"id": "x" * 5000}, "at most 4096 characters"),
        ("/recommend", {"id": "ann", "n": 0}, "query n: Input should be greater than or equal"),
        ("/recommend", {"id": "ann", "n": 1001}, "less than or equal to 1000"),
        ("/recommend", {"id": "ann", "n": "many"}, "valid integer"),
        ("/recommend", {"id": "ann", "side": "middle"}, "'left' or 'right'"),
        ("/recommend", {"id": "ann", "exclude_known": "perhaps"}, "valid boolean"),
        ("/recommend", {"id": "ann", "number": 3}, "query number: Extra inputs"),
        ("/similar", {"id": "ann", "n": -1}, "query n"),
        ("/explain", {"left": "ann"}, "query right: Field required"),
        ("/explain", {"left": "ann", "right": "film 00", "n": 101}, "query n"),
        ("/api/search", {"q": "a", "n": 101}, "query n"),
        ("/api/ids", {"side": "left", "count": 10_001}, "query count"),
        ("/api/ids", {"side": "left", "start": -1}, "query start"),
        ("/api/points", {"side": "up"}, "query side"),
    ],
)
def test_bad_parameters_are_422_in_words(client, path, params, words):
    answer = client.get(path, params=params)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    "path, body, words",
    [
        ("/recommend", {"ids": []}, "at least 1 item"),
        ("/recommend", {"ids": ["a"] * 1001}, "at most 1000 items"),
        ("/recommend", {"ids": ["a"], "deny": ["a"] * 10_001}, "at most 10000 items"),
        ("/recommend", {"ids": [True]}, "body ids 0"),
        ("/recommend", {"ids": [None]}, "body ids 0"),
        ("/recommend", {"ids": [2**53]}, "body ids 0"),
        ("/recommend", {"ids": ["a"], "scorer": "dot"}, "body scorer: Extra inputs"),
        ("/explain", {"pairs": [{"left": "a", "right": "b"}] * 101}, "at most 100 items"),
        ("/explain", {"pairs": [{"left": "a"}]}, "body pairs 0 right"),
        ("/api/rows", {"side": "left", "ids": [["a"]]}, "body ids 0"),
    ],
)
def test_bad_bodies_are_422_in_words(client, path, body, words):
    answer = client.post(path, json=body)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_what_is_no_json_or_no_text_is_422(client):
    headers = {"content-type": "application/json"}
    assert client.post("/recommend", content=b"{", headers=headers).status_code == 422
    answer = client.post("/recommend", content=b"\x05\xff", headers=headers)
    assert answer.status_code == 422
    assert "JSON in UTF-8" in answer.json()["detail"]
    lone = b'{"ids": ["\\ud800"], "n": 3}'
    assert client.post("/recommend", content=lone, headers=headers).status_code == 422
    odd = b'{"\\ud800": 1, "ids": ["a"]}'
    assert client.post("/recommend", content=odd, headers=headers).status_code == 422


def test_the_wrong_verb_is_told_the_right_ones(client):
    answer = client.delete("/similar")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"
    assert answer.json()["detail"] == "/similar takes GET or POST"


def test_ids_of_any_kind_come_back_as_they_are(client, hostile_ids):
    for key in hostile_ids:
        for path in ("/recommend", "/similar"):
            assert client.get(path, params={"id": key}).json()["id"] == key
        node = client.get("/api/node", params={"id": key, "side": "left"}).json()
        assert node["id"] == key
        assert key in [
            hit["id"] for hit in client.get("/api/search", params={"q": key}).json()["items"]
        ]
    answer = client.get("/similar", params={"id": hostile_ids[0]})
    assert answer.headers["content-type"] == "application/json"
    listed = client.get("/api/ids", params={"side": "left"}).json()["ids"]
    assert listed[3:] == hostile_ids


def test_integer_ids_are_text_in_answers(make, serve):
    large = 2**60 + 1  # a browser would make 2**60 of it
    client = serve(make([1, 2, large], [10, 20], [(1, 10, 1), (2, 10, 1), (large, 20, 1)]))
    assert client.get("/similar", params={"id": str(large)}).json()["id"] == str(large)
    answer = client.post("/similar", json={"ids": [2, str(large)]}).json()
    assert [result["id"] for result in answer["results"]] == ["2", str(large)]
    explained = client.get("/explain", params={"left": "1", "right": "10"}).json()
    assert explained["left"] == "1"
    hits = client.get("/api/search", params={"q": "115"}).json()["items"]
    assert [hit["id"] for hit in hits] == [str(large)]


def test_without_a_graph(bare):
    answer = bare.get("/explain", params={"left": "ann", "right": "film 00"})
    assert answer.status_code == 409
    assert "--graph" in answer.json()["detail"]
    assert bare.post("/explain", json={"pairs": [{"left": "a", "right": "b"}]}).status_code == 409
    node = bare.get("/api/node", params={"id": "ann", "side": "left"}).json()
    assert (node["degree"], node["neighbours"]) == (None, [])
    assert len(bare.get("/similar", params={"id": "ann"}).json()["items"]) == 9


def test_an_empty_embedding(empty):
    summary = empty.get("/api/summary").json()
    assert summary["sides"]["left"]["nodes"] == 0
    assert empty.get("/api/points", params={"side": "left"}).content == b""
    assert empty.get("/api/search", params={"q": "a"}).json() == {"items": []}
    assert empty.get("/api/ids", params={"side": "left"}).json()["ids"] == []
    assert empty.get("/recommend", params={"id": "ann"}).status_code == 404
    assert empty.get("/").status_code == 200


def test_a_node_without_edges(make, serve):
    client = serve(make(["ann", "bob"], ["x", "y"], [("ann", "x", 1)]))
    node = client.get("/api/node", params={"id": "bob", "side": "left"}).json()
    assert (node["degree"], node["neighbours"]) == (0, [])
    assert client.get("/recommend", params={"id": "bob"}).status_code == 200
    json.dumps(client.get("/similar", params={"id": "ann"}).json(), allow_nan=False)


def test_points_columns_and_ids_are_in_row_order(client, embedding):
    points = np.frombuffer(client.get("/api/points", params={"side": "right"}).content, "<f4")
    assert points.reshape(-1, 2).shape == (13, 2)
    assert np.abs(points).max() == pytest.approx(1)
    degree = client.get("/api/column", params={"side": "left", "name": "degree"})
    assert np.frombuffer(degree.content, "<f4").tolist() == [4] * 10
    ids = client.get("/api/ids", params={"side": "right", "start": 3, "count": 2}).json()
    assert ids == {"start": 3, "ids": ["film 03", "film 04"], "names": ["", ""]}
    rows = client.post("/api/rows", json={"side": "left", "ids": ["bob", "zz", "ann"]}).json()
    assert rows == {"rows": [1, -1, 0], "names": ["", "", ""]}
    node = client.get("/api/node", params={"id": "film 05", "side": "right"}).json()
    assert (node["x"], node["y"]) == tuple(points.reshape(-1, 2)[5].tolist())


def test_neighbours_are_heaviest_first_and_counted(client):
    node = client.get("/api/node", params={"id": "ann", "side": "left", "n": 2}).json()
    assert node["degree"] == 4
    assert node["neighbours"] == [
        {"id": "film 03", "weight": 4.0}, {"id": "film 02", "weight": 3.0},
    ]  # fmt: skip


def test_a_column_called_name_is_what_people_read(make, serve, tmp_path):
    (tmp_path / "names.csv").write_text("id,side,name,year\n1,right,Alien,1979\n2,right,,1985\n")
    emb = make(["ann"], [1, 2, 3], [("ann", 1, 1)])
    client = serve(emb, labels=tmp_path / "names.csv")
    sides = client.get("/api/summary").json()["sides"]
    assert (sides["left"]["named"], sides["right"]["named"]) == (False, True)
    assert [c["name"] for c in sides["right"]["columns"]] == ["community", "degree", "year"]
    hits = client.get("/api/search", params={"q": "alien"}).json()["items"]
    assert hits == [{"id": "1", "name": "Alien", "side": "right", "degree": 1}]
    assert client.get("/api/search", params={"q": "1"}).json()["items"][0]["id"] == "1"
    assert client.get("/api/ids", params={"side": "right"}).json()["names"] == ["Alien", "", ""]
    assert client.get("/api/node", params={"id": "1", "side": "right"}).json()["name"] == "Alien"
    rows = client.post("/api/rows", json={"side": "right", "ids": [3, 1, "x"]}).json()
    assert rows == {"rows": [2, 0, -1], "names": ["", "Alien", ""]}


def test_search_puts_whole_before_begins_before_contains(make, serve):
    left = ["Alien", "Aliens", "My alien", "Other", "alie"]
    client = serve(make(left, ["ALIEN", "b"], [("Other", "b", 1), ("Aliens", "b", 1)]))
    hits = client.get("/api/search", params={"q": "alien"}).json()["items"]
    assert {hit["id"] for hit in hits[:2]} == {"Alien", "ALIEN"}
    assert [hit["id"] for hit in hits[2:]] == ["Aliens", "My alien"]
    only = client.get("/api/search", params={"q": "ALIEN", "side": "right"}).json()["items"]
    assert only == [{"id": "ALIEN", "name": "", "side": "right", "degree": 0}]
    assert len(client.get("/api/search", params={"q": "e", "n": 2}).json()["items"]) == 2
