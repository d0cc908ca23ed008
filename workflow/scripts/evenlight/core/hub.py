"""What the Hugging Face hub says where it does not give a model or a dataset, in words and with a remedy."""

from pathlib import Path


def key_of_revision(key: str) -> str:
    """The key that names the revision of what another key names.

    >>> key_of_revision("models.<model>.tokenizer.source"), key_of_revision("models.<model>.adapter")
    ('models.<model>.tokenizer.revision', 'models.<model>.adapter_revision')
    """
    return f"{key}_revision" if key.endswith("adapter") else f"{key.removesuffix('source')}revision"


def refused_by_hub(error: object, source: str | Path, key: str = "models.<model>.source") -> str | None:
    """Why the hub does not give what was asked for, and what to do; None where it has no part in an error.

    Args:
        error: of any library, and what it came from; what is no error has nothing to do with the hub.
        source: id on the hub.
        key: that names it.
    """
    # Here, so that whoever is refused nothing need not load the hub's client.
    from huggingface_hub import constants
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    page = f"{constants.ENDPOINT}/{'datasets/' if key.startswith('datasets') else ''}{source}"
    token = "the token of your account in the environment variable HF_TOKEN (or log in: hf auth login)"
    while isinstance(error, BaseException):
        if isinstance(error, GatedRepoError):
            return f"access to it is restricted). Ask for access on {page}, and give {token}"
        if isinstance(error, RepositoryNotFoundError):
            return f"the hub has none of this name, or it is private). Look at {key}, or give {token}"
        if isinstance(error, RevisionNotFoundError):
            return f"it has no such revision). Name one of {page}/commits/main as {key_of_revision(key)}"
        if "Consistency check failed" in str(error):
            said = str(error).partition(".\n")[0]
            return f"a download was not complete: {said}). Run it again; what is complete is not downloaded again"
        error = error.__cause__ or error.__context__
    return None


def asked_about(dataset: str, revision: str | None) -> Exception | None:
    """What the hub's client says of a dataset that another library was not given; None where it may be had."""
    from huggingface_hub import HfApi

    try:
        HfApi().auth_check(dataset, repo_type="dataset")
        HfApi().repo_info(dataset, repo_type="dataset", revision=revision)
    except Exception as error:
        return error
    return None
