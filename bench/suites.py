"""What is timed beside each peer: the tasks of its study, and the methods that a task computes together.

Needs the standard library only, because workers run in environments of their own.
"""

SUITES = {
    "ferret": {
        "gradient": ["grad", "gxi"],
        "path": ["ig", "igxi"],
        "lime": ["lime"],
        "shap": ["shap"],
        "aopc": ["comprehensiveness", "sufficiency"],
    },
    "captum and lime": {
        "saliency": ["saliency", "input_x_gradient"],
        "deeplift": ["deeplift"],
        "guided_backprop": ["guided_backprop"],
        "integrated_gradients": ["integrated_gradients"],
        "gradient_shap": ["gradient_shap"],
        "kernel_shap": ["kernel_shap"],
        "word_lime": ["word_lime"],
    },
    "interpreto": {
        "token_saliency": ["token_gxi"],
        "token_path": ["token_igxi"],
        "token_lime": ["token_lime"],
        "token_kernel_shap": ["token_kernel_shap"],
        "token_occlusion": ["token_occlusion"],
    },
}

# Forward passes that a row costs: a backward pass to the embeddings computes each product once more. Nothing is
# said of the tasks whose number of rows says little about their work.
PASSES = {
    "gradient": 2,
    "path": 2,
    "lime": 1,
    "shap": 1,
    "saliency": 2,
    "guided_backprop": 2,
    "integrated_gradients": 2,
    "gradient_shap": 2,
    "kernel_shap": 1,
    "token_saliency": 2,
    "token_path": 2,
    "token_lime": 1,
    "token_kernel_shap": 1,
    "token_occlusion": 1,
}
