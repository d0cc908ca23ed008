# Of a study that was unpacked from an archive, only what is read is made: figures and pages.
#
# What was computed stands as it is. The archive does not have what that was made of elsewhere, such as sources and
# pre-trained models, which would else be asked for to draw a figure; and a graph without it is small.
#
# Comes in: <results>/archive/, which `make unpack` writes. Without that folder the study is one like any other.

# Beginnings of the names of rules that compute nothing; and what only the study's page asks for, of what an archive has.
RENDERING = (
    "draw_",
    "tabulate_",
    "write_",
    "count_texts",
    "count_questions",
    "count_decisions",
    "estimate_texts_needed",
    "classify_empty_texts",
    "describe_decisions",
)

if study.archived:
    study.inside.forget_rules(unless=RENDERING)
