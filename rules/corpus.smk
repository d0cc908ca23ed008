# From the list of popular books to sentences that people annotate, and from what they decide to a dataset.
#
# Comes in: two sites, or stored pages; a parser or a treebank; what annotators made.
# Goes out: <results>/corpus/, with what is to be reviewed and what came of it.
# Without a section `corpus` in the configuration there are no such rules.


if study.corpus:

    rule list_books:
        """Read the list of Project Gutenberg's most popular books."""
        input:
            script=study.script("corpus/list_books.py"),
            served=study.served_pages(),
        output:
            "<results>/corpus/books.parquet",
        log:
            "<logs>/list_books.log",
        benchmark:
            "<benchmarks>/list_books.tsv"
        localrule: True
        conda:
            "../envs/corpus.yaml"
        resources:
            fetch=study.fetch,
            mem_mb=2000,
            runtime=30,
        params:
            settings=study.scrape_settings("period", "limit"),
            pages=study.pages_folder(),
            versions=study.versions("list_books"),
        shell:
            "python {input.script:q} --settings {params.settings:q} "
            "--pages-store $(dirname {output:q})/{params.pages} {resources.fetch} --output {output:q} > {log:q} 2>&1"

    rule find_articles:
        """Find the books' articles on Wikipedia; what is doubtful is listed for a person."""
        input:
            script=study.script("corpus/find_articles.py"),
            books="<results>/corpus/books.parquet",
            decisions=study.project_files("scrape", "decisions"),
            served=study.served_pages(),
        output:
            articles="<results>/corpus/articles.parquet",
            doubtful="<results>/corpus/doubtful.csv",
        log:
            "<logs>/find_articles.log",
        benchmark:
            "<benchmarks>/find_articles.tsv"
        localrule: True
        conda:
            "../envs/corpus.yaml"
        resources:
            fetch=study.fetch,
            mem_mb=2000,
            runtime=240,
        params:
            settings=study.scrape_settings("resolvers", "candidates", "matched", "doubtful"),
            decisions=lambda wildcards, input: [f"--decisions={path}" for path in input.decisions],
            contents=content_of(study.project_files("scrape", "decisions")),
            pages=study.pages_folder(),
            versions=study.versions("find_articles"),
        shell:
            "python {input.script:q} --settings {params.settings:q} --books {input.books:q} {params.decisions:q} "
            "--pages-store $(dirname {output.articles:q})/{params.pages} {resources.fetch} "
            "--doubtful {output.doubtful:q} --output {output.articles:q} > {log:q} 2>&1"

    rule extract_paragraphs:
        """Take the paragraphs that tell the plots out of the stored articles."""
        input:
            script=study.script("corpus/extract_paragraphs.py"),
            books="<results>/corpus/books.parquet",
            articles="<results>/corpus/articles.parquet",
        output:
            "<results>/corpus/paragraphs.parquet",
        log:
            "<logs>/extract_paragraphs.log",
        benchmark:
            "<benchmarks>/extract_paragraphs.tsv"
        # The pages are no output: they lie where the rules before this one ran.
        localrule: study.stored
        conda:
            "../envs/corpus.yaml"
        resources:
            mem_mb=growing(2000),
            runtime=growing(30),
        params:
            settings=study.scrape_settings("headings", "without_plot"),
            pages=study.pages_folder(),
            versions=study.versions("extract_paragraphs"),
        shell:
            "python {input.script:q} --settings {params.settings:q} --books {input.books:q} "
            "--articles {input.articles:q} --pages-store $(dirname {output:q})/{params.pages} --output {output:q} "
            "> {log:q} 2>&1"

    if study.treebank:

        rule train_parser:
            """Train a small parser on a treebank."""
            input:
                script=study.script("corpus/train_parser.py"),
                treebank=study.treebank,
            output:
                directory("<results>/corpus/parser"),
            log:
                "<logs>/train_parser.log",
            benchmark:
                "<benchmarks>/train_parser.tsv"
            conda:
                "../envs/corpus.yaml"
            resources:
                mem_mb=growing(2000),
                runtime=growing(60),
            params:
                flags=["--{}={}".format(key, study.corpus["parser"][key]) for key in ("language", "epochs")],
                treebank=content_of(study.treebank),
                versions=study.versions("train_parser"),
            shell:
                "python {input.script:q} --treebank {input.treebank:q} {params.flags:q} "
                "--output {output:q} > {log:q} 2>&1"

    rule parse_sentences:
        """Cut the paragraphs into sentences and parse them."""
        input:
            script=study.script("corpus/parse_sentences.py"),
            paragraphs="<results>/corpus/paragraphs.parquet",
            parser="<results>/corpus/parser" if study.treebank else [],
            pipeline=study.parser_files(),
        output:
            "<results>/corpus/sentences.parquet",
        log:
            "<logs>/parse_sentences.log",
        benchmark:
            "<benchmarks>/parse_sentences.tsv"
        conda:
            "../envs/corpus.yaml"
        resources:
            mem_mb=growing(4000),
            runtime=growing(60),
        params:
            parser=lambda wildcards, input: input.get("parser") or study.corpus["parser"]["pipeline"],
            versions=study.versions("parse_sentences"),
        shell:
            "python {input.script:q} --paragraphs {input.paragraphs:q} --parser {params.parser:q} --output {output:q} "
            "> {log:q} 2>&1"

    rule filter_sentences:
        """Keep the sentences that suit a gender-controlled dataset."""
        input:
            script=study.script("corpus/filter_sentences.py"),
            sentences="<results>/corpus/sentences.parquet",
            lexicon=study.lexicon_of_people(),
        output:
            candidates="<results>/corpus/candidates.parquet",
            table=report(
                "<results>/corpus/filter.csv", category="Corpus", caption="../resources/captions/corpus/filter.rst"
            ),
        log:
            "<logs>/filter_sentences.log",
        benchmark:
            "<benchmarks>/filter_sentences.tsv"
        conda:
            "../envs/corpus.yaml"
        resources:
            mem_mb=growing(2000),
            runtime=growing(30),
        params:
            settings=as_json(**{key: study.corpus["filter"][key] for key in ("max_words", "similarity")}),
            lexicon=content_of(study.lexicon_of_people()),
            versions=study.versions("filter_sentences"),
        shell:
            "python {input.script:q} --settings {params.settings:q} --sentences {input.sentences:q} "
            "--lexicon {input.lexicon:q} --output {output.candidates:q} --table {output.table:q} > {log:q} 2>&1"

    rule draft_variants:
        """Draft the male, female and neutral form of every candidate."""
        input:
            script=study.script("corpus/draft_variants.py"),
            candidates="<results>/corpus/candidates.parquet",
            words=study.lexicon("gendered_words.yaml"),
            names=study.lexicon("given_names.yaml"),
        output:
            "<results>/corpus/drafts.parquet",
        log:
            "<logs>/draft_variants.log",
        benchmark:
            "<benchmarks>/draft_variants.tsv"
        conda:
            "../envs/corpus.yaml"
        resources:
            mem_mb=growing(2000),
            runtime=growing(30),
        params:
            settings=as_json(**study.corpus["draft"]),
            lexicons=content_of([study.lexicon("gendered_words.yaml"), study.lexicon("given_names.yaml")]),
            versions=study.versions("draft_variants"),
        shell:
            "python {input.script:q} --settings {params.settings:q} --candidates {input.candidates:q} "
            "--words {input.words:q} --names {input.names:q} --output {output:q} > {log:q} 2>&1"

    rule write_review_page:
        """Write the page on which people review the drafts, one file that needs no server."""
        input:
            script=study.script("corpus/write_review_page.py"),
            candidates="<results>/corpus/candidates.parquet",
            drafts="<results>/corpus/drafts.parquet",
        output:
            "<results>/corpus/review.html",
        log:
            "<logs>/write_review_page.log",
        benchmark:
            "<benchmarks>/write_review_page.tsv"
        localrule: True
        conda:
            "../envs/corpus.yaml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            flags=[f"--title={config['study']}", f"--language={study.corpus['parser']['language']}"],
            template=content_of([study.in_project("workflow/scripts/evenlight/corpus/annotation/review.html")]),
            versions=study.versions("write_review_page"),
        shell:
            "python {input.script:q} --candidates {input.candidates:q} --drafts {input.drafts:q} "
            "{params.flags:q} --output {output:q} > {log:q} 2>&1"

    rule export_label_studio:
        """Write the drafts as tasks of Label Studio, with the configuration of the project."""
        input:
            script=study.script("corpus/export_label_studio.py"),
            candidates="<results>/corpus/candidates.parquet",
            drafts="<results>/corpus/drafts.parquet",
        output:
            tasks="<results>/corpus/label_studio/tasks.json",
            configuration="<results>/corpus/label_studio/configuration.xml",
        log:
            "<logs>/export_label_studio.log",
        benchmark:
            "<benchmarks>/export_label_studio.tsv"
        localrule: True
        conda:
            "../envs/corpus.yaml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            versions=study.versions("export_label_studio"),
        shell:
            "python {input.script:q} --candidates {input.candidates:q} --drafts {input.drafts:q} "
            "--tasks {output.tasks:q} --configuration {output.configuration:q} > {log:q} 2>&1"

    if study.corpus["annotation"]["files"]:

        rule import_annotations:
            """Read and check what the annotators made, in whatever format."""
            input:
                script=study.script("corpus/import_annotations.py"),
                files=study.project_files("annotation", "files"),
            output:
                "<results>/corpus/annotations.parquet",
            log:
                "<logs>/import_annotations.log",
            benchmark:
                "<benchmarks>/import_annotations.tsv"
            localrule: True
            conda:
                "../envs/corpus.yaml"
            resources:
                mem_mb=2000,
                runtime=10,
            params:
                contents=content_of(study.project_files("annotation", "files")),
                schema=content_of([study.in_project("config/schemas/review_export.schema.yaml")]),
                versions=study.versions("import_annotations"),
            shell:
                "python {input.script:q} --input {input.files:q} --output {output:q} > {log:q} 2>&1"

        rule measure_agreement:
            """Measure how far the annotators agree, per decision and per word."""
            input:
                script=study.script("corpus/measure_agreement.py"),
                annotations="<results>/corpus/annotations.parquet",
            output:
                agreement=report(
                    "<results>/corpus/agreement.csv",
                    category="Corpus",
                    caption="../resources/captions/corpus/agreement.rst",
                ),
                disagreements="<results>/corpus/disagreements.csv",
            log:
                "<logs>/measure_agreement.log",
            benchmark:
                "<benchmarks>/measure_agreement.tsv"
            localrule: True
            conda:
                "../envs/corpus.yaml"
            resources:
                mem_mb=2000,
                runtime=10,
            params:
                versions=study.versions("measure_agreement"),
            shell:
                "python {input.script:q} --annotations {input.annotations:q} --output {output.agreement:q} "
                "--disagreements {output.disagreements:q} > {log:q} 2>&1"

        rule resolve_annotations:
            """Make one annotation per sentence, which a dataset of the reader `annotated` is read from."""
            input:
                script=study.script("corpus/resolve_annotations.py"),
                annotations="<results>/corpus/annotations.parquet",
                adjudication=study.project_files("annotation", "adjudication"),
            output:
                annotations="<results>/corpus/resolved.parquet",
                disagreements="<results>/corpus/resolutions.csv",
            log:
                "<logs>/resolve_annotations.log",
            benchmark:
                "<benchmarks>/resolve_annotations.tsv"
            localrule: True
            conda:
                "../envs/corpus.yaml"
            resources:
                mem_mb=2000,
                runtime=10,
            params:
                method=study.corpus["annotation"]["resolution"],
                adjudication=lambda wildcards, input: [f"--adjudication={path}" for path in input.adjudication],
                contents=content_of(study.project_files("annotation", "adjudication")),
                versions=study.versions("resolve_annotations"),
            shell:
                "python {input.script:q} --annotations {input.annotations:q} --method {params.method} "
                "{params.adjudication:q} --output {output.annotations:q} --disagreements {output.disagreements:q} "
                "> {log:q} 2>&1"


rule corpus:
    """What is there to review, and how far those agree who did."""
    input:
        study.corpus_results(),
