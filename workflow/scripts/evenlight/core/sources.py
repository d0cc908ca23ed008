"""Files from elsewhere: published data, where it comes from, what it must contain and how it gets here; and models.

A file's name is its path in a mirror, a folder that holds some or all of the files. What the mirror lacks is
downloaded. Nothing is accepted whose SHA-256 is not the one written here.
"""

import difflib
import hashlib
import os
import shutil
import sys
import tarfile
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, unquote

from evenlight.core.errors import InputError

MIRROR_VARIABLE = "EVENLIGHT_MIRROR"
WAITS = (1, 2, 4, 8)  # seconds between the attempts of a download
TIMEOUTS = (10, 60)  # seconds for the connection and for each answer
BLOCK = 1 << 16  # bytes
SETTLED = 2 * 10**9  # nanoseconds after which the time of a file tells whether it was written again
# What a model is loaded from. No other weights are: a `.bin` is a pickle, which can hold a program.
TOKENIZER_FILES = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab*", "merges.txt", "*.model")
WEIGHT_FILES = ("model*.safetensors*",)
ADAPTER_FILES = ("adapter_model.safetensors",)  # peft's
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle", "*.h5", "*.msgpack")


@dataclass(frozen=True)
class Source:
    """A file's address upstream, at a pinned commit, and the SHA-256 of its content."""

    url: str
    sha256: str


@dataclass(frozen=True)
class Archive:
    """A repository at a pinned commit in one packed file, for data that is published in thousands of single files.

    Attributes:
        url: of the packed file (.tar.gz). Its bytes depend on who packed it, so that its content is what is checked.
        folder: which folder of the repository is read.
        sha256: of that folder. It is what ``find FOLDER -type f | LC_ALL=C sort | xargs sha256sum | sha256sum`` prints.
        tables: SHA-256 of the tables that are made of it, as a mirror may have them in place of the packed file.
    """

    url: str
    folder: str
    sha256: str
    tables: Mapping[str, str]


def _raw_github(repository: str, commit: str, *folder: str) -> str:
    return "/".join(["https://raw.githubusercontent.com", repository, commit, *folder])


# Text derived from Wikipedia, CC BY-SA 4.0.
GECOBENCH = ("braindatalab/gecobench", "f0907c69d95353016556a6cbd0c5fcaa76392ed9")
GECO = _raw_github(*GECOBENCH, "data/dataset")
GECO_SHA256 = {
    "binary_gender_all/train.jsonl": "2763003165719d26ef66503ef3943b782a77e4ef9741098a8e18ad1592ad0df9",
    "binary_gender_all/test.jsonl": "60f4f84ec5aa1d23eba47bec31e2e22b8c78557a2b28314549ab832d99960edd",
    "binary_gender_subj/train.jsonl": "590549986d54f2a7d5e49e2bcd66473e0ce79d53879960751c9e39395115f066",
    "binary_gender_subj/test.jsonl": "0ff41288c3691acc46a6df62a4fab407703e2c5a7a8e09f6cd71b3a679869d79",
    "non_binary_gender_all/train.jsonl": "ef1b972be4c3485027db7ead0df5dfeb4a4082e61a642c0da9d2eb7724ac8849",
    "non_binary_gender_all/test.jsonl": "08d5803e7b6aed5d3f894127a9f88b93ee3e9e35245e261444c68cb5bf57fdb6",
    "non_binary_gender_subj/train.jsonl": "ffee51c528469ab94ce4ba272065d385c2b351c84c931dd478288952c9cd7859",
    "non_binary_gender_subj/test.jsonl": "a8f8dc273edfddfb800ef98d6747de68e01c6b0c8c6dffb39a62f6cb410a393f",
}

# What GECO's annotators made.
GECO_ANNOTATION = _raw_github(*GECOBENCH, "data/dataset_generation/data")
GECO_ANNOTATION_SHA256 = {
    "merged_labelling_v2.json": "c6155b8114e0f9a93a9ab58fb12796ccc62df00cd78893681653ab24d0b82149",
    "intersection_template_Artur_v2.xlsx": "6f7839de9e0536b16d16cc2b5080203a6262891aa08ee9567e2a7dedec91b0bc",
    "intersection_template_hjalmar.xlsx": "cfab55c32ebf2287fc670c7592c4451ec2ed023fae9b413204f82745ef98712a",
    "intersection_template_rick.xlsx": "2cb6cca83d104dfb4d43ae031842c687b14cfbfedc34db90faadf88cff3608fb",
}

# ProPublica's two-year recidivism table; public records, published with no licence file.
COMPAS = _raw_github("propublica/compas-analysis", "bafff5da3f2e45eca6c2d5055faad269defd135a")
COMPAS_SHA256 = {"compas-scores-two-years.csv": "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"}

# CC BY-SA 4.0.
CROWS_PAIRS = _raw_github("nyu-mll/crows-pairs", "8aaac11c485473159ec9328a65253a5be9a479dc", "data")
CROWS_PAIRS_SHA256 = {"crows_pairs_anonymized.csv": "dfb36986ce0502abbaf7055b9176da3d08d48e07df1251991b5dfbcbceab9d0c"}

# MIT licence.
WINOBIAS = _raw_github("uclanlp/corefBias", "0bce984dd081bbc10b0622f326727a024c607895", "WinoBias/wino/data")
WINOBIAS_SHA256 = {
    "anti_stereotyped_type1.txt.dev": "a4e0ebae344e78b56f657a42e8ae684b9db7747d177c5e7149c0907ebb7f3bf6",
    "anti_stereotyped_type1.txt.test": "331db5bd74bfefebf146a60b67645152a4a1991570d2a56f57154103ac361dd2",
    "anti_stereotyped_type2.txt.dev": "763ad829ad724f9a85ead689ba8ca69072020cb1238def6210f0fc6a47b97e59",
    "anti_stereotyped_type2.txt.test": "336571ac1ea8c06cd2aba8e5dd2bd98e00acc0c48da3e4ec5ec7e54eb2633a8f",
    "pro_stereotyped_type1.txt.dev": "dd55a0d220fe4c0ceb63dd4648223fb4fe1a58d5ad95c116a002ad24b0e292a5",
    "pro_stereotyped_type1.txt.test": "db7838907238a758eeb5779e48f38c013b892910d6fe864456c59f04245c6689",
    "pro_stereotyped_type2.txt.dev": "8f0250de723cea9328e3eaf7169e07936f01aa5909ce7aa580db66eb803f4e86",
    "pro_stereotyped_type2.txt.test": "ea1c1fd94fa612e3cc44d7fa3cc4cb76021bb63fdf94f9826f430051e9052438",
}

# CC BY 4.0.
CEBAB = _raw_github("CEBaBing/CEBaB", "40e68518fe66a3b5e53b52741c5b180c8a096295")
CEBAB_SHA256 = {"CEBaB-v1.1.zip": "afe8ebcb5d18f33297512cd5c7e05f1590b82fb0683367042454c3eda7d5c6ae"}

# CC BY 4.0.
HATECHECK = _raw_github("paul-rottger/hatecheck-data", "d84302298ceeb34f4b0dde2d8a1f4932c2caa612")
HATECHECK_SHA256 = {"test_suite_cases.csv": "ecf0dc1e93fccc90b6f880e632b19e635c0f0a68b3157915a9e20b6938f121cf"}

# CC BY 4.0.
MULTILINGUAL_HATECHECK = _raw_github(
    "rewire-online/multilingual-hatecheck", "a03f2caf2023a402d85064bda243e46d280408f0", "MHC%20Final%20Cases"
)
MULTILINGUAL_HATECHECK_SHA256 = {
    "hatecheck_cases_final_arabic.csv": "134d39c3b691801e24ab53fb14d3214fea69eb2b3c5288b3f00e31ca0ece1bee",
    "hatecheck_cases_final_dutch.csv": "df67042194bf33837e77126aa994e01201d84edec8f0b46acec8fed0322d595d",
    "hatecheck_cases_final_french.csv": "17cc2c7ec01ad28c31c1c53bbda8c7245b83e86d34017327964956ace1446586",
    "hatecheck_cases_final_german.csv": "ecdef4611b877120d0a8feec9c0cd0dfc1efec7ead4bbd62eaf32f6cc80d2ee0",
    "hatecheck_cases_final_hindi.csv": "ffebc31db02d59f603ac9728aa9b63d7db46de2cdc4c54468aabab82e5d8bd40",
    "hatecheck_cases_final_italian.csv": "5339cd1e0d6e338c7ae9b831e74d653d6216a25120214d92b5d98d25a1c20674",
    "hatecheck_cases_final_mandarin.csv": "d094336d73fb3b2817a04cac226687fcf91cb914deccd4d4096a85cf4a147414",
    "hatecheck_cases_final_polish.csv": "88b8f9cfe4484f2e7543a7b28983b10f5942f04cc87c904c653a01318b7d1c04",
    "hatecheck_cases_final_portuguese.csv": "839bcd08e59efb9a659ab3c7e82022844a57ae5babe705323a7956d2d9461ea8",
    "hatecheck_cases_final_spanish.csv": "20d2388f4f3bafe744010a42f1ce7ddd5b2b09efa978fb0d8a0fc810487948aa",
}

# Zhou et al. 2025 (arXiv 2503.04099); no licence is named, so that nothing of it is passed on.
DIALECT = _raw_github("Runtaozhou/dialect_bias_eval", "dce014cf60b69fbf3d965c2452da3d40095265eb")
DIALECT_SHA256 = {
    "gpt-4/aave_llm_bigbench_qna.csv": "35dac61891db1d70efaddb5937bf313c0ac7127c8f1c03f0ccaea676d2f4bb14",
    "gpt-4/regular_bigbench_qna.csv": "a4146a13834301d68052d9d42585a63845c33d4dfa3361c34e6c8c9ec43a68b7",
    "llama3.1/aave_llm_bigbench_qna.csv": "48f9cbecd08ce0d3424f15bac25ce47543c6c81a186399ade80db8fd4b141534",
    "llama3.1/regular_bigbench_qna.csv": "11c91f7a7aa213457aea37cb2fa8e0c3c90c945834e78488516097e857b906d9",
    "qwen2.5/aave_llm_bigbench_qna.csv": "c1539c517473b0c7eeeb923740963aa5db3c40fe04390d78f93444e39fffcd41",
    "qwen2.5/regular_bigbench_qna.csv": "7a371229794b9cc37890393484d297347d91ab8c6953327318dc4179c3b56bfe",
}
DIALECT_DRAWS_SHA256 = {
    "gpt-3.5/aave_uncertainty_0.csv": "d96c59958261668471fed48e7ca2a94959a71d31e7b8408920b4a677769fb9f3",
    "gpt-3.5/aave_uncertainty_1.csv": "bd57e173c1fafb9d43ba1f9a950e395aaaeccedc59cc1ed90b71a940c104771b",
    "gpt-3.5/aave_uncertainty_2.csv": "f3f4b10857f02e48b1215daf48834740a1f02620ec32b151dcd4f92590513653",
    "gpt-3.5/aave_uncertainty_3.csv": "7a8cfcf796994d99cb83956586b49d8aaa4e5895ee623b9bc77273e0efc5670d",
    "gpt-3.5/aave_uncertainty_4.csv": "76b397ea1e7cd8ab0b8f101b189d2553febb27706f6d168d998e12af6b8bbf41",
    "gpt-3.5/aave_uncertainty_5.csv": "d4f2f903a04ff37771be865c1c4bb074bf2c46f9b43478c347b84c4ab4f7c452",
    "gpt-3.5/aave_uncertainty_6.csv": "883e76f64a6e0145595a7323f059909fa4afcdf4c434fb96fa407e04b07c17c8",
    "gpt-3.5/aave_uncertainty_7.csv": "7c8fe414bc7e987cc34ac753c998cef568baf519d1dad0b9c7c2266961a6fc29",
    "gpt-3.5/aave_uncertainty_8.csv": "1d3ac837728c78694becc38c2ca69a46a233c6a14c78948143e2adf0f1f1510e",
    "gpt-3.5/aave_uncertainty_9.csv": "1741267d190a30563a44b2cc69ddc594d69218ded25a8c66874bf2fc3cd2a866",
    "gpt-3.5/sae_uncertainty_0.csv": "4520758f879aa50fe8caaad868de8251e388367cad425dbcc97a5674358d1cec",
    "gpt-3.5/sae_uncertainty_1.csv": "915cb11217d8f971d23c437cf31c443d42c83399bb5c8e16a70cd18d801475de",
    "gpt-3.5/sae_uncertainty_2.csv": "26143dccfb651db33734ccd8591d797eb082368c49ed30f8eb5fd8cb30970864",
    "gpt-3.5/sae_uncertainty_3.csv": "39c57e51d1ccdf82696fba3cd8eb6a9ad6251a53a0f1aa03775876cb1fd2ec86",
    "gpt-3.5/sae_uncertainty_4.csv": "d4a3b462f6ef14e6a4365a7d33b15366e40e0832dea9546738c91e4bc1a10238",
    "gpt-3.5/sae_uncertainty_5.csv": "ce9401d99beb422fb99c4d9981e2510fda4299d1a9b760b843d054b2614b27c0",
    "gpt-3.5/sae_uncertainty_6.csv": "3f777d23ec509d5d47a446138e4ceb6e70973bf14c0c56d3d1b6de895d8438ec",
    "gpt-3.5/sae_uncertainty_7.csv": "208ee1350db15e06aeb8928b86a3bbf4da5f3a610affcd9e250fb460bd244092",
    "gpt-3.5/sae_uncertainty_8.csv": "f2bdc75e8faaeebcc3c63651781c354cd9dcd465366528fce3f7b24a15f5cece",
    "gpt-3.5/sae_uncertainty_9.csv": "cb20e5c1617727c7e26731d4af6b37be6833bbe0c02eea88af68f54e8451ce48",
    "llama3.1/aave_uncertainty_0.csv": "ee79eccf8a147c9be4a32b180cf3df7002cb9e77dac264b99667105e9fac01ea",
    "llama3.1/aave_uncertainty_1.csv": "f07d5efa3782b8ce31f5e6bcc68a25290fa5bb89c0a5eea5a472cc1ca217228a",
    "llama3.1/aave_uncertainty_2.csv": "e98324e5c8fc3bf3e127dcd88ddec43166eb622146aae8d81167a458da5cd14e",
    "llama3.1/aave_uncertainty_3.csv": "b95918b7e57a832c04a515ee959af8e4f99ad8388d23ff923c72ce33923292b3",
    "llama3.1/aave_uncertainty_4.csv": "ec251e5541c07aad12bc581daf7ac6fe6e5be99c33325ad9cf19fb7c4bf12c3d",
    "llama3.1/aave_uncertainty_5.csv": "fee222305a910028542dc98c9ef2419a661261a2eede69cffc93df3011cfea20",
    "llama3.1/aave_uncertainty_6.csv": "be791e4a84565bcd1e93ad7dbf77066a0afeb403455d58ae8c2d37c90ddb3654",
    "llama3.1/aave_uncertainty_7.csv": "1fa5cf67ee70a91c27e73f32eba30babcea7ba54a950809922e816601ea4d221",
    "llama3.1/aave_uncertainty_8.csv": "f429f2fc1a951675ffd3c93f4687193ec3ef7323014fdb552481a0abaa406e22",
    "llama3.1/aave_uncertainty_9.csv": "cfd59a016d05328ebe5d85ccedc0642c73940a8a66382b9c879815fcf2f3f6f2",
    "llama3.1/sae_uncertainty_0.csv": "8c43b699af941459c097ea5122bf7b7f952e9d5d61ac57f06b33ef9a2502df50",
    "llama3.1/sae_uncertainty_1.csv": "33ced496f28f0a62f0e133db35c2894308679eeaf0429d838d4e2cb4802e5635",
    "llama3.1/sae_uncertainty_2.csv": "214fe2e8b55a3f7fe82d86d0e181a5e9ef954d5df148c0239b77fea8c3824e24",
    "llama3.1/sae_uncertainty_3.csv": "cdb706b2dc69192b6606916dbe489370b651fbe4972ebcd19b59dc7f55b029c0",
    "llama3.1/sae_uncertainty_4.csv": "7a56417043e965e29d324680e9ea9b5f1ff5846261a1a82880883f61c554f755",
    "llama3.1/sae_uncertainty_5.csv": "5618f5b292c1f0ab034b8dceb45009c779a7725f2c6895e8b2f1da25271b7835",
    "llama3.1/sae_uncertainty_6.csv": "c47b9592140bb6d3713be5247765a73e046e0422c5dbf7e06c57a560221ae1f1",
    "llama3.1/sae_uncertainty_7.csv": "a88d55b27c7749470161b4a6b1b7d79dbc0f783978650b27179d152d3ed4efd6",
    "llama3.1/sae_uncertainty_8.csv": "536913607a9164a377f17a120036ed721379f02609d95b17a1410a4bb516760b",
    "llama3.1/sae_uncertainty_9.csv": "21ffaa30bd531df3630e6205f5d402a9f609192a5573d2d171b5c11d961908f3",
    "mistral/aave_uncertainty_0.csv": "d03f20442a40049ead06f4c3625f1b547d7811a11b7e2e12e0dac0e7dab4ed79",
    "mistral/aave_uncertainty_1.csv": "16b223bcb1ef154752b46f2d9749ba13753056be9595bdb86a57595033239dfa",
    "mistral/aave_uncertainty_2.csv": "67e21089dfa4a0a67d6fc7891914250792c48f72ca59d6f599a3714376e95496",
    "mistral/aave_uncertainty_3.csv": "3d9267c1a871a3c65ff6fc8dd639132de5556d19013907e7adf585005799b394",
    "mistral/aave_uncertainty_4.csv": "9e3e753044d7884edcc0c5167002b325faf3c2bddeed988929718a10e1233c8b",
    "mistral/aave_uncertainty_5.csv": "effa6efccecc7820e6e2fee90372ea8685c874a7c5f8fedb9004c20708dbfbc0",
    "mistral/aave_uncertainty_6.csv": "de47f4368df26ad209a0b1ca600371e19eea2c3165d73c637ecd90f4e992408e",
    "mistral/aave_uncertainty_7.csv": "b6e67c8b5e40cdb8990e7f49cc39fa8febcd22c9441a14f68425ab8b1f94da03",
    "mistral/aave_uncertainty_8.csv": "770066e5320ed7375e26ec427a9aa49f936f2367a0834a36ab25fda37cfc67ac",
    "mistral/aave_uncertainty_9.csv": "c2bd421e0d443f87998232c75599c29bbedb3f9f004132107cd97a84f4fcccca",
    "mistral/sae_uncertainty_0.csv": "1240d29d9e453c29694c62799c4ac081955a1a0096c390ccd1a3b5b54067a470",
    "mistral/sae_uncertainty_1.csv": "1d886dd52b28e40f6d8bd32f61f223af132bdc1a5df0ca85ed70f2bfdcfd2074",
    "mistral/sae_uncertainty_2.csv": "41d114fb386bdb1a572c808f0d930cba8296b93216387af978050c3aea272b82",
    "mistral/sae_uncertainty_3.csv": "3aefb777a434b79865850d35d144844e5ce6e380ed2ec12985d5a5b494597293",
    "mistral/sae_uncertainty_4.csv": "7c234704bfedf153d5badd47470adc4cfb063004179e99d5a1583102c8d0fe60",
    "mistral/sae_uncertainty_5.csv": "23443aea7614d1ee00c576b6fb6323da6ac59d6de026082902f6e2e4895861b4",
    "mistral/sae_uncertainty_6.csv": "206fc4492cee94b388a87def16644d038374041960688175d866eba89e94cb6c",
    "mistral/sae_uncertainty_7.csv": "189e05b28f49dc1f3e055f87534a865de1775366b173e97b33ecce818e2c6ac6",
    "mistral/sae_uncertainty_8.csv": "91251b85a4b5e1a1a92bd969659a3319c443bd40f3d3a745fca1ae74ff21538a",
    "mistral/sae_uncertainty_9.csv": "c34b7e896f3c224330519788ed745c2bcc4b9bdd53e23ad976dc49cb3234adff",
    "qwen2.5/aave_uncertainty_0.csv": "bf845abe571cf44832c2dfbf80bad9bafbb80d4f31389eb8d7cdd5ffc1c7ca14",
    "qwen2.5/aave_uncertainty_1.csv": "fcd1cb5d9a74f3fcbef5565b4a34d10a6ced5ece5ea09ae90021a1f51fed06f3",
    "qwen2.5/aave_uncertainty_2.csv": "e3f3f37c56aa902a98859c3c4b3f80bedd7a52a7cbf79d9c3fb2a523020a0fc2",
    "qwen2.5/aave_uncertainty_3.csv": "74c9faf5bbd66a57bf32a66afe9aa46da818c71d6b484c3f30412627e659930c",
    "qwen2.5/aave_uncertainty_4.csv": "afb63a9fb5afbf5e32379eeddb5a823c11426d54c3e46646c355eeaa578f79ff",
    "qwen2.5/aave_uncertainty_5.csv": "1bf73fc70fbc6f4a63fbd0f2b8736d6b691b53ff2779aa60c467feab1fd2ddc7",
    "qwen2.5/aave_uncertainty_6.csv": "5c4e51b72d6a741e1b2cfdc499666cdec1a5294af79cb3c768b2f37762c72538",
    "qwen2.5/aave_uncertainty_7.csv": "2a35b3d7ef0cdf4ca3e0cd086a665e11ad189000872894ce0304ec9f626b0abc",
    "qwen2.5/aave_uncertainty_8.csv": "afe384c101c66b8099976df72e2f0ab11e0659991b95f812bd808f5ad388f6c8",
    "qwen2.5/aave_uncertainty_9.csv": "db8a4ac4068ba5932738162a701841de17e43e68edeee15d45807fa32ee0594f",
    "qwen2.5/sae_uncertainty_0.csv": "efb2e9b85b15affc09fe421dc33873710bb316e494fdbf2bd6cab4a066fa16ac",
    "qwen2.5/sae_uncertainty_1.csv": "317a746bb2856ba63dfdc51e205fa7eb2d45f744d3b698f37b46f6dad42c4013",
    "qwen2.5/sae_uncertainty_2.csv": "42d884d7bcbb45df32e9e02f81e55f6d64c9db472a481a9ea65c4d1ff5728f1d",
    "qwen2.5/sae_uncertainty_3.csv": "83987e83ef606e54b83eaa92f4fcb3d4953519b4351fde414ad8ddac5edc459a",
    "qwen2.5/sae_uncertainty_4.csv": "a51141595b30774f8509493a114d3a7d8dae3b10e992bda4f7c29f83e39521e0",
    "qwen2.5/sae_uncertainty_5.csv": "1a8ba1f6d4f7ceddcbb9e947743e8c0f6d06a7940db43afea321f02d8d729758",
    "qwen2.5/sae_uncertainty_6.csv": "2332496587b8a015c941fcd56a4e6a02e06b487922a6ef37fae9b702ecf9c434",
    "qwen2.5/sae_uncertainty_7.csv": "ed05e0b74e957345d4a227b3d84956bd935f51ab31b92f5a204c30622553c236",
    "qwen2.5/sae_uncertainty_8.csv": "71d98472c0a1d5513e35b039f079e9a6ea66a8c01cef121939d907f7b1540619",
    "qwen2.5/sae_uncertainty_9.csv": "8dccd04a5fbfc15f3d38f02123aad953d481282528a0df1eef26c418498aed3b",
}

SOURCES = {
    f"{folder}/{path}": Source(f"{address}/{path}", sha256)
    for folder, address, digests in (
        ("geco", GECO, GECO_SHA256),
        ("geco_annotation", GECO_ANNOTATION, GECO_ANNOTATION_SHA256),
        ("compas", COMPAS, COMPAS_SHA256),
        ("crows_pairs", CROWS_PAIRS, CROWS_PAIRS_SHA256),
        ("winobias", WINOBIAS, WINOBIAS_SHA256),
        ("cebab", CEBAB, CEBAB_SHA256),
        ("hatecheck", HATECHECK, HATECHECK_SHA256),
        ("multilingual_hatecheck", MULTILINGUAL_HATECHECK, MULTILINGUAL_HATECHECK_SHA256),
        ("dialect", f"{DIALECT}/bigbench_dataset", DIALECT_SHA256),
        ("dialect/uncertainty", f"{DIALECT}/uncertainty_exp", DIALECT_DRAWS_SHA256),
    )
    for path, sha256 in digests.items()
}
# Matton et al. 2025, MIT licence.
ARCHIVES = {
    "walk_the_talk": Archive(
        url="https://github.com/kmatton/walk-the-talk/archive/0497b60d5aa4e5ab7acb6e40bee4479ac7a80f40.tar.gz",
        folder="outputs/iclr-2025/bbq",
        sha256="3b1aeb6a649ea40e46a70beb3b3cb97a073f4e9b9bb106e3758a815b9a8f3af0",
        tables={
            "bbq_answers.parquet": "a439d71443215f9547ca59e640f652f2c1e7d8aabb66e2c1a85f5576a91644fb",
            "bbq_concepts.parquet": "3f0b594ed3718b374650b834c2b44033e89ea8066bd86b010482a240d62db151",
            "bbq_implied.parquet": "6d2bf2f38f3f3ec325af31d693c6c471d9792a191bd73be58fa336248b4a762d",
        },
    )
}

# What begins the name of a file that a study names by its address: name, SHA-256 and address are one.
ADDRESSED = "at"


def addressed(url: str, sha256: str) -> str:
    """The name of a file that a study names by its address and SHA-256, under which it lies like any other source.

    >>> addressed("https://host/a/answers.csv", "0f")
    'at/0f/https%3A%2F%2Fhost%2Fa%2Fanswers.csv'
    """
    return f"{ADDRESSED}/{sha256}/{quote(url, safe='')}"


def source(name: str) -> Source | None:
    """Where the file of a name comes from and what it must contain; None of an unknown name.

    >>> source(addressed("https://host/a/answers.csv", "0f"))
    Source(url='https://host/a/answers.csv', sha256='0f')
    """
    folder, _, rest = name.partition("/")
    sha256, _, url = rest.partition("/")
    return Source(unquote(url), sha256) if folder == ADDRESSED and url else SOURCES.get(name)


def known_source(name: str) -> Source:
    """The same, of a name that must be known.

    Raises:
        InputError: it is not.
    """
    if (found := source(name)) is None:
        raise InputError(f"source '{name}' is unknown; known sources: {', '.join(SOURCES)}")
    return found


def is_address(path: str) -> bool:
    """Whether what names a file is no path."""
    return path.startswith(("https://", "http://"))


def digest(path: str | Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal; a process reads once what is as it was."""
    state = os.stat(path)
    changed = max(state.st_mtime_ns, state.st_ctime_ns)
    # Two writings so close together may have one time.
    read = _digest_of.__wrapped__ if time.time_ns() - changed < SETTLED else _digest_of
    return read(str(path), state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


@lru_cache(maxsize=1024)
def _digest_of(path: str, *state: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def missing(path: str | Path) -> str:
    """What is said of a path with nothing there: the nearest name beside the first part of it that is missing.

    >>> missing("/no/such/folder/mine.csv")
    '/no/such/folder/mine.csv: no such file, since there is no /no; paths begin where Snakemake is started'
    """
    said = nearest(path)
    return f"{said}{'' if said.endswith('?') else ';'} paths begin where Snakemake is started"


def nearest(path: str | Path) -> str:
    """The first part of that: which path is not there, and which may have been meant.

    >>> nearest("/no/such/folder/mine.csv")
    '/no/such/folder/mine.csv: no such file, since there is no /no'
    """
    absent = next(part for part in (*reversed(Path(path).parents), Path(path)) if not part.exists())
    near = get_close_matches(absent.name, [other.name for other in absent.parent.iterdir()], n=1)
    if near:
        return f"{path}: no such file; did you mean {absent.with_name(near[0])}?"
    return f"{path}: no such file" + ("" if absent == Path(path) else f", since there is no {absent}")


def is_missing_folder(source: str) -> bool:
    """Whether a source can only be a path, since the hub has no such names, and there is no such folder.

    >>> is_missing_folder("/no/such/folder"), is_missing_folder("./none"), is_missing_folder("organisation/model")
    (True, True, False)
    >>> is_missing_folder("my/models/first"), is_missing_folder("models/"), is_missing_folder("model")
    (True, True, False)
    """
    is_path = source.startswith(("/", ".", "~")) or source.endswith("/") or source.count("/") > 1
    return is_path and not Path(source).is_dir()


def nearest_folder(source: str) -> str | None:
    """The folder whose path is nearest to one that is not there, as it would be written; None where none is near."""
    path = Path(source)
    there = next((parent for parent in path.parents if parent.is_dir()), None)
    if there is None:
        return None
    wrong, *below = path.relative_to(there).parts
    names = [each.name for each in there.iterdir() if each.is_dir() and not each.name.startswith(".")]
    for name in difflib.get_close_matches(wrong, names):
        if (near := Path(there, name, *below)).is_dir():
            return str(near)
    return None


def transformers_files(folder: str | Path) -> list[Path]:
    """The files in a folder that its model is loaded from, by name; none where there is no such folder."""
    return sorted({*_of_patterns(folder, WEIGHT_FILES), *tokenizer_files(folder)})


def tokenizer_files(folder: str | Path) -> list[Path]:
    """Those that its tokenizer is loaded from, alike."""
    return sorted(_of_patterns(folder, ("config.json", *TOKENIZER_FILES)))


def adapter_files(folder: str | Path) -> list[Path]:
    """The files in a folder that an adapter is loaded from, by name; none where there is no such folder."""
    return sorted(_of_patterns(folder, ("adapter_config.json", *ADAPTER_FILES)))


def _of_patterns(folder: str | Path, patterns: Iterable[str]) -> set[Path]:
    return {path for pattern in patterns for path in Path(folder).glob(pattern)}


def check_no_pickle(source: str, weights: Sequence[str]) -> None:
    """Refuse a folder whose only weights are of a kind that can hold a program.

    Args:
        source: folder, or hub id, of which nothing is known here.
        weights: patterns of the weights that are read.

    Raises:
        InputError: naming the file and how to convert it.
    """
    folder = Path(source)
    if not folder.is_dir() or _of_patterns(folder, weights):
        return
    if pickles := sorted(_of_patterns(folder, PICKLES) - set(folder.glob("training_args.bin"))):
        raise InputError(f"{pickles[0]}: {convert(source)}")


def convert(source: str | Path, revision: str | None = None) -> str:
    """Why such weights are not read, and what to do."""
    named = f" --revision {revision}" if revision else ""
    return (
        "weights are read as safetensors only, since a file of another kind can hold a program; where you trust its "
        f"author, convert it: python {tool('convert_weights.py')} {source} NEW_FOLDER{named}"
    )


def tool(name: str) -> str:
    """Where a command of ``workflow/tools`` is, from where the run was started; a library alone has none of them."""
    path = Path(__file__).parents[3] / "tools" / name
    if not path.is_file():
        return f"workflow/tools/{name} (of Evenlight's repository)"
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def mirror_folder(named: str | Path | None = None) -> Path | None:
    """The mirror that is ``named`` or, failing that, the one of the environment variable ``EVENLIGHT_MIRROR``."""
    folder = named or os.environ.get(MIRROR_VARIABLE)
    if not folder:
        return None
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: the mirror is not a folder; name an existing one with --mirror or {MIRROR_VARIABLE}, "
            "or leave both away to download the data"
        )
    return folder


def refuse_changed(name: str, path: str | Path) -> None:
    """Refuse a fetched file that is no longer what was fetched."""
    remedy = "delete it and run the workflow again, rule fetch_source makes it"
    _check_digest(Path(path), known_source(name).sha256, path, remedy)


def fetch(name: str, output: str | Path, mirror: Path | None = None, waits: Sequence[float] = WAITS) -> None:
    """Write the file ``name`` of :data:`SOURCES` to ``output``, from ``mirror`` if it is there, else by download.

    ``waits`` are the seconds before each further attempt of a download. The output appears only when it is
    complete and its SHA-256 is right.
    """
    # Here and not above, so that the Snakefile can read the registry without loading pandas.
    from evenlight.core.tables import replacing

    found = known_source(name)
    with replacing(output) as temporary:
        _check_digest(temporary, found.sha256, *_bring(name, found.url, temporary, mirror, waits))


def fetch_tables(
    name: str, make: Callable, folder: Path, mirror: Path | None = None, waits: Sequence[float] = WAITS
) -> None:
    """Write the tables of :data:`ARCHIVES` under ``name`` below ``folder``: those of the mirror, else of the archive.

    Args:
        name: of the archive; tables have it as their folder, in ``mirror`` and in ``folder``.
        make: makes the tables, by name, of the files, by path.
        folder: where sources lie.
        mirror: the folder with the tables, or with the packed file under the commit's name.
        waits: seconds before each further attempt of a download.
    """
    from evenlight.core.tables import replacing

    archive, tables = ARCHIVES[name], [f"{name}/{table}" for table in ARCHIVES[name].tables]
    if mirror and all((mirror / table).is_file() for table in tables):
        for table, sha256 in zip(tables, archive.tables.values(), strict=True):
            with replacing(folder / table) as temporary:
                _check_digest(temporary, sha256, *_bring(table, archive.url, temporary, mirror, waits))
        return
    with TemporaryDirectory() as scratch:
        packed = Path(scratch, "packed")
        origin = _bring(f"{name}/{archive.url.rpartition('/')[2]}", archive.url, packed, mirror, waits)
        made = make(unpacked(archive, packed, *origin))
    for table in archive.tables:
        with replacing(folder / name / table) as temporary:
            made[table].to_parquet(temporary, index=False, compression="zstd")


def unpacked(archive: Archive, path: Path, origin: str | Path, remedy: str) -> dict[str, bytes]:
    """The files of an archive's folder, by their paths in it, in the order of these.

    Args:
        archive: what is read, and what it must contain.
        path: the packed file.
        origin: where it is from, and ``remedy``, what to do where it is wrong.

    Raises:
        InputError: the file is no packed repository, or what is in its folder is not what was published.
    """
    files = {}
    try:
        with tarfile.open(path, "r|gz") as packed:
            for member in packed:
                # All lies in one folder, whose name depends on who packed it.
                name = member.name.partition("/")[2]
                is_there = member.isfile() and name.startswith(f"{archive.folder}/")
                if is_there and (file := packed.extractfile(member)):
                    files[name.removeprefix(f"{archive.folder}/")] = file.read()
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise InputError(f"{origin}: no packed repository ({error}); {remedy}") from None
    files = dict(sorted(files.items()))
    listed = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {archive.folder}/{name}\n" for name, content in files.items()
    )
    _check_same(hashlib.sha256(listed.encode()).hexdigest(), archive.sha256, f"{origin}, {archive.folder}", remedy)
    return files


def _bring(name: str, url: str, output: Path, mirror: Path | None, waits: Sequence[float]) -> tuple[str | Path, str]:
    """Copy the file of a name from the mirror, or download it; where it is from, and what to do where it is wrong."""
    mirrored = mirror / name if mirror else None
    if mirrored and mirrored.is_file():
        shutil.copyfile(mirrored, output)
        return mirrored, "delete it there to have it downloaded, or replace it by the published file"
    destination = mirrored or f"<folder>/{name} and name that folder with --mirror or {MIRROR_VARIABLE}"
    remedy = f"check the network, or place the file at {destination}"
    _download(url, output, remedy, waits)
    return url, "something on the way changed the file; " + remedy


def _check_digest(path: Path, expected: str, origin: str | Path, remedy: str) -> None:
    _check_same(digest(path), expected, origin, remedy)


def _check_same(actual: str, expected: str, origin: str | Path, remedy: str) -> None:
    if actual != expected:
        raise InputError(f"{origin}: wrong checksum: SHA-256 should be {expected}, found {actual}; {remedy}")


def _download(url: str, path: Path, remedy: str, waits: Sequence[float]) -> None:
    """Download ``url`` into ``path``; failures that may pass are tried again after each of ``waits``."""
    import requests

    for wait in (*waits, None):
        try:
            return _download_once(url, path)
        except requests.RequestException as error:
            if wait is None or not _may_pass(error):
                raise InputError(f"{url}: cannot be downloaded ({_reason(error)}); {remedy}") from None
            print(f"{url}: {_reason(error)}; next attempt in {wait} s", file=sys.stderr)
            time.sleep(wait)


def _download_once(url: str, path: Path) -> None:
    """One attempt; ``requests`` raises an error when the body ends before its announced length."""
    import requests
    from tqdm import tqdm

    # Uncompressed, so that the announced length is that of the file and the progress is true.
    with requests.get(url, headers={"Accept-Encoding": "identity"}, stream=True, timeout=TIMEOUTS) as response:
        response.raise_for_status()
        length = int(response.headers.get("Content-Length", 0)) or None
        progress = tqdm(total=length, unit="B", unit_scale=True, desc=url.rsplit("/", 1)[-1], mininterval=1)
        with progress, open(path, "wb") as file:
            for block in response.iter_content(BLOCK):
                file.write(block)
                progress.update(len(block))


def _reason(error: Exception) -> str:
    """What went wrong, without the wrapping that repeats the address."""
    return str(getattr(error.args[0], "reason", error) if error.args else error)


def _may_pass(error: Exception) -> bool:
    """Whether another attempt may end better: no answer, a broken one, or a server that is busy or down."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status is None or status == 429 or status >= 500


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


def asked_wait(header: str | None) -> float | None:
    """The seconds of a header Retry-After (RFC 9110, section 10.2.3), None without one or with one that says nothing.

    >>> asked_wait("7"), asked_wait("Wed, 01 Jan 2020 00:00:00 -0000"), asked_wait("soon"), asked_wait(None)
    (7.0, 0.0, None, None)
    """
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    if header is None:
        return None
    try:
        # Whether to wait so long is for the caller to say.
        return float(Retry(retry_after_max=sys.maxsize).parse_retry_after(header))
    except (InvalidHeader, ValueError):
        return None
