"""The data sets: where each comes from, what is in it, on which terms.

Checksums and sizes are of the uncompressed content. None of these files is part of bivec but the
table of the southern women.
"""

from __future__ import annotations

from bivec.datasets.registry import Counts, Download, Entry, File

_BINE = "https://raw.githubusercontent.com/clhchtcjj/BiNE/c8a9827827002a4175a86ce0e95bdb15426abfec"
_BINE_CITATION = (
    "M. Gao, L. Chen, X. He, A. Zhou, BiNE: Bipartite Network Embedding, SIGIR 2018, "
    "doi:10.1145/3209978.3209987"
)
_KONECT_CITATION = (
    "J. Kunegis, KONECT: The Koblenz Network Collection, WWW Companion 2013, "
    "doi:10.1145/2487788.2488173"
)
_MISSING_LICENCE = "none stated"


def _snap(
    name: str, page: str, stem: str, title: str, left: str, right: str, counts: Counts, file: File,
    notes: str = "",
) -> Entry:  # fmt: skip
    return Entry(
        name=f"snap-com-{name}",
        aliases=(name,),
        title=title,
        left=left,
        right=right,
        source=f"https://snap.stanford.edu/data/{page}.html",
        licence="none stated; SNAP asks for the citation",
        citation="J. Yang, J. Leskovec, Defining and Evaluating Network Communities based on "
        "Ground-truth, ICDM 2012, doi:10.1109/ICDM.2012.138",
        reader="communities",
        layouts=((file,),),
        downloads=(
            Download(
                f"https://snap.stanford.edu/data/bigdata/communities/{stem}.top5000.cmty.txt.gz",
                (file.name,),
            ),
        ),
        counts=counts,
        notes=notes,
    )


_ALL = (
    Entry(
        name="bine-dblp",
        aliases=("dblp-bine",),
        title="DBLP of BiNE: authors and venues, with a split for recommendation",
        left="author",
        right="venue",
        weight="papers of the author at the venue",
        source="https://github.com/clhchtcjj/BiNE",
        licence=_MISSING_LICENCE,
        citation=_BINE_CITATION,
        reader="bine",
        layouts=(
            (
                File(
                    "rating_train.dat",
                    "fc7277a0e4092bf113157353716bba859588329e121eb720a16f9e5618542a76",
                    218_864,
                ),
                File(
                    "rating_test.dat",
                    "f3fb34459d9d91e84a0884d180ecf4297571149389c0e3dffe15345d085b818e",
                    146_923,
                ),
            ),
        ),
        downloads=(
            Download(f"{_BINE}/data/dblp/rating_train.dat", ("rating_train.dat",)),
            Download(f"{_BINE}/data/dblp/rating_test.dat", ("rating_test.dat",)),
        ),
        counts=Counts(6_001, 1_308, 29_256),
        split="given: 17,699 edges to train on, 11,557 to test; the graph is both together",
        notes="Training edges reach every author but only 1,177 of 1,308 venues: 131 venues are "
        "in the test edges alone. 2,996 authors have test edges.",
    ),
    Entry(
        name="bine-wiki",
        aliases=("wikipedia-bine", "wikipedia"),
        title="Wikipedia of BiNE: authors and pages, with a split for link prediction",
        left="author",
        right="page",
        source="https://github.com/clhchtcjj/BiNE",
        licence=_MISSING_LICENCE,
        citation=_BINE_CITATION,
        reader="bine",
        layouts=(
            (
                File(
                    "rating_train.dat",
                    "74c0dfb047408043f3da3d3db7c326789f1878c886eb284e0b5e73810e15aabb",
                    457_447,
                ),
                File(
                    "rating_test.dat",
                    "004f87572ba1566b8b98735b25c15eb8d23fd5f59920591732f11e0ea6dfd00f",
                    350_664,
                ),
            ),
        ),
        downloads=(
            Download(f"{_BINE}/data/wiki/rating_train.dat", ("rating_train.dat",)),
            # Published under a misspelt name.
            Download(f"{_BINE}/data/wiki/ratindg_test.dat", ("rating_test.dat",)),
        ),
        counts=Counts(15_000, 3_214, 64_095),
        split="given: 36,283 edges to train on, 27,812 to test; the graph is both together",
        notes="Training edges reach 2,529 of 3,214 pages; the others are in the test edges alone. "
        "The publication's ratings.dat repeats rows; its distinct edges are these.",
    ),
    Entry(
        name="disgenet-hypernetx",
        aliases=("disgenet",),
        title="Genes and diseases, the extract of DisGeNET that comes with HyperNetX",
        left="gene (Entrez id)",
        right="disease (UMLS concept)",
        source="https://github.com/pnnl/HyperNetX",
        licence="HyperNetX: BSD-3-Clause; DisGeNET, older releases: CC BY-NC-SA 4.0",
        citation="J. Piñero et al., DisGeNET, Nucleic Acids Research 45, 2017, "
        "doi:10.1093/nar/gkw943",
        reader="pairs",
        layouts=(
            (
                File(
                    "disGene.txt",
                    "68af2b7f824a65d8c36a0e6cae08a31e766aa523b724a1ec9bd20df7d95461fe",
                    1_736_336,
                ),
            ),
        ),
        downloads=(
            Download(
                "https://raw.githubusercontent.com/pnnl/HyperNetX/"
                "4bf891ffb01e79fd09b65b6fe970f4b088b6fbaf/hypernetx/utils/toys/disGene.txt",
                ("disGene.txt",),
            ),
        ),
        counts=Counts(12_368, 2_261, 113_581),
        notes="HyperNetX does not say which release of DisGeNET it is, or how it was filtered.",
    ),
    Entry(
        name="konect-moreno-crime",
        aliases=("moreno-crime", "crime"),
        title="Persons and the crimes they were involved in",
        left="person",
        right="crime",
        source="http://konect.cc/networks/moreno_crime",
        licence=_MISSING_LICENCE,
        citation=_KONECT_CITATION,
        reader="pairs",
        layouts=(
            (
                File(
                    "out.moreno_crime_crime",
                    "0c073de8e0fa90708678a6c59acc3d8fd4887729478ae281e8c7b2eaa5c6be34",
                    12_658,
                    "copy",
                ),
            ),
        ),
        downloads=(
            Download(
                "http://konect.cc/files/download.tsv.moreno_crime.tar.bz2",
                ("out.moreno_crime_crime",),
            ),
        ),
        counts=Counts(829, 551, 1_476),
    ),
    Entry(
        name="konect-opsahl-collaboration",
        aliases=("opsahl-collaboration", "collaboration"),
        title="Authors and papers of arXiv cond-mat, 1995 to 1999",
        left="author",
        right="paper",
        source="http://konect.cc/networks/opsahl-collaboration",
        licence=_MISSING_LICENCE,
        citation=f"M. E. J. Newman, The structure of scientific collaboration networks, PNAS 98, "
        f"2001, doi:10.1073/pnas.98.2.404; {_KONECT_CITATION}",
        reader="pairs",
        layouts=(
            (
                File(
                    "out.opsahl-collaboration",
                    "e79c1f3b818d9303a4bad4cf4d3c3331617a8e266cbd6416c0e82b9df8aaa82e",
                    672_009,
                    "copy",
                ),
            ),
        ),
        downloads=(
            Download(
                "http://konect.cc/files/download.tsv.opsahl-collaboration.tar.bz2",
                ("out.opsahl-collaboration",),
            ),
        ),
        counts=Counts(16_726, 22_015, 58_595),
    ),
    Entry(
        name="lastfm-hetrec2011",
        aliases=("lastfm",),
        title="Last.fm of HetRec 2011: listeners and artists",
        left="listener",
        right="artist",
        weight="log(1 + times listened); raw: times listened",
        source="https://grouplens.org/datasets/hetrec-2011/",
        licence="non-commercial use, with the citation and a link to last.fm",
        citation="I. Cantador, P. Brusilovsky, T. Kuflik, HetRec 2011, RecSys 2011, "
        "doi:10.1145/2043932.2044016",
        reader="lastfm",
        layouts=(
            (
                File(
                    "user_artists.dat",
                    "650cd69d5a68db24b439042557aa539aec47e473273e12cdfdca2cd944b3773a",
                    1_296_453,
                    "copy",
                ),
                File(
                    "artists.dat",
                    "c173881362c6b28551368fecb3c0be5a6a30a6cd859e1f5775413dfe46d48648",
                    1_925_879,
                    "copy",
                ),
            ),
        ),
        downloads=(
            Download(
                "https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
                ("user_artists.dat", "artists.dat"),
                "6738f48195667ff03caaab4d32ca9a3133d8cc026b7c3cdaf6ce1010e913c59c",
            ),
        ),
        counts=Counts(1_892, 17_632, 92_834),
        preparation="counts are log-scaled, as in the paper, which names no base or offset; "
        "log(1 + n) keeps the artists that were listened to once",
        labels="name of the artist",
    ),
    Entry(
        name="madgrades",
        title="Instructors and courses of UW-Madison, fall 2006 to fall 2017",
        left="instructor",
        right="course",
        weight="sections taught",
        source="https://github.com/Madgrades/reports",
        licence="none stated; for information and research, no targeting of individuals: Madgrades "
        "says that the university does not endorse republication",
        citation="Madgrades, https://madgrades.com, from the registrar's reports on grades",
        reader="madgrades",
        layouts=(
            (
                File(
                    "edges.tsv",
                    "f03e965481a781b74ccf1a6c1e432d3f93b4a59d75e4f513fe74307849be72f0",
                    1_031_945,
                    "assembly",
                ),
                File(
                    "term_edges.tsv",
                    "80a8da22f3fd596e663d45f1a7b117b5567f4daaa1291ee4c133dfccf601643a",
                    4_516_888,
                    "assembly",
                ),
                File(
                    "courses.tsv",
                    "67ef5d5e5d5787f697533a43978c481fe4d48d12d474c03498d6dd16a682a27f",
                    403_160,
                    "assembly",
                ),
            ),
        ),
        counts=Counts(11_794, 6_520, 61_543),
        raw_counts=Counts(18_894, 9_706, 71_774),
        preparation="nodes of degree 1 are removed until none is left, as in the paper",
        time="first term in which the instructor taught the course, as the registrar numbers "
        "terms: 1072 is fall 2006, 1074 spring 2007, ..., 1182 fall 2017",
        labels="subjects of the course",
        notes="A re-assembly from the published reports, close to the paper's graph (11,951 "
        "instructors and 6,462 courses) but not the same: the paper used Madgrades' own export, "
        "https://www.kaggle.com/Madgrades/uw-madison-courses, which is behind a login and in a "
        "layout that bivec does not read. The assembled tables are not published, so there is "
        "nothing to download.",
    ),
    Entry(
        name="movielens-100k",
        aliases=("movielens", "ml-100k"),
        title="MovieLens 100K: users and movies, with a split for recommendation",
        left="user",
        right="movie",
        weight="rating, 1 to 5",
        source="https://grouplens.org/datasets/movielens/100k/",
        licence="research, non-commercial, with acknowledgement; no redistribution without "
        "permission of GroupLens",
        citation="F. M. Harper, J. A. Konstan, The MovieLens Datasets, ACM TiiS 5, 2015, "
        "doi:10.1145/2827872",
        reader="movielens",
        layouts=(
            (
                File(
                    "ml-100k.inter",
                    "4edb74e2a81178c2ba9ff381495f754f996c4aea351b1272ca36b43da0935eff",
                    1_979_230,
                    "copy",
                ),
                File(
                    "ml-100k.item",
                    "51d7cdf777ce5c0f5b32c1d947a4a81fe07d75e78abbe761e0cd4d0756064532",
                    66_632,
                    "copy",
                ),
            ),
            (
                File(
                    "u.data",
                    "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
                    1_979_173,
                ),
                File(
                    "u.item",
                    "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701",
                    None,
                ),
            ),
        ),
        downloads=(
            Download(
                "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
                ("u.data", "u.item"),
                "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
            ),
        ),
        counts=Counts(943, 1_682, 100_000),
        split="that of BiGI (Cao et al., WSDM 2021), which is GroupLens' u1: the first 20,000 "
        "ratings are for testing, less 32 of movies without a training rating",
        time="seconds since 1970",
        labels="title of the movie",
        notes="Read from GroupLens' u.data and u.item, or from RecBole's ml-100k.inter and "
        "ml-100k.item, which hold the same ratings in the same order.",
    ),
    _snap(
        "amazon", "com-Amazon", "com-amazon",
        "Amazon: products and the 5,000 best communities", "product", "community",
        Counts(16_716, 5_000, 67_462),
        File(
            "com-amazon.top5000.cmty.txt",
            "7da07b6bbe1e8cbee3eaff1b123eebff82e316660eb214de21249bd10086e73d", 458_683,
        ),
    ),
    _snap(
        "dblp", "com-DBLP", "com-dblp",
        "DBLP: authors and the 5,000 best communities", "author", "venue",
        Counts(93_432, 5_000, 112_228),
        File(
            "com-dblp.top5000.cmty.txt",
            "84e5fd08f0259d0f7354b45f35e3b1d225e895bfba4cc5338a2e5f505ac45e17", 761_504,
        ),
    ),
    _snap(
        "friendster", "com-Friendster", "com-friendster",
        "Friendster: users and the 5,000 best communities", "user", "group",
        Counts(220_015, 5_000, 234_032),
        File(
            "com-friendster.top5000.cmty.txt",
            "c15e195c870d550fce48898f2425a2e73130821ce17291e6d184b33d48878623", 2_100_436, "copy",
        ),
        "The paper prints a median of 133 users a group where the file gives 33; every other "
        "figure agrees.",
    ),
    _snap(
        "livejournal", "com-LiveJournal", "com-lj",
        "LiveJournal: users and the 5,000 best communities", "user", "group",
        Counts(84_438, 5_000, None),
        File(
            "com-lj.top5000.cmty.txt",
            "6d087dda808ba83897328403d7a85d338428625a37e3f5879ae28a5320fc5f0a", 1_074_676,
        ),
        "Numbers of nodes are the paper's, the checksum is from an independent record of SNAP's "
        "file; bivec has not been run on it. Smaller extracts under the same name are other "
        "graphs and are not taken for it.",
    ),
    _snap(
        "youtube", "com-Youtube", "com-youtube",
        "YouTube: users and the 5,000 best communities", "user", "group",
        Counts(39_841, 5_000, 72_959),
        File(
            "com-youtube.top5000.cmty.txt",
            "dae8e9fd9a0debb07c2ba625259e17a53601090ec2464df8a9bed63c3b45df0f", 472_030,
        ),
    ),
    Entry(
        name="southern-women",
        aliases=("davis",),
        title="Women of a southern town and the events they attended",
        left="woman",
        right="event",
        source="comes with bivec",
        licence="free to use",
        citation="A. Davis, B. B. Gardner, M. R. Gardner, Deep South, University of Chicago "
        "Press, 1941",
        reader="southern_women",
        counts=Counts(18, 14, 89),
    ),
    Entry(
        name="viewer-movies",
        aliases=("viewers",),
        title="Viewers and movies with planted tastes, generated",
        left="viewer",
        right="movie",
        weight="stars, 1 to 5",
        source="comes with bivec",
        licence="free to use",
        citation="none needed",
        reader="viewer_movies",
        counts=Counts(600, 240, 8_857),
        labels="taste of the movie",
        notes="As bivec.datasets.viewer_movies() makes it; that function takes other sizes, "
        "tastes and seeds and also tells the tastes of the viewers.",
    ),
)  # fmt: skip

ENTRIES = {entry.name: entry for entry in _ALL}
