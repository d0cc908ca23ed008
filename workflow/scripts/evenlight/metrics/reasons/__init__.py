"""How faithful reasons in words are: functions on answers, decisions and what is known of both.

Nothing here asks a model. Each module has its sources, and what its metrics cannot see.

| metric | module | of | direction |
| --- | --- | --- | --- |
| causal concept faithfulness | ``causal_concepts`` | a question, and all | higher |
| counterfactual test, CCT, phi-CCT | ``counterfactual`` | interventions | higher |
| both, and simulatability, of recorded answers | ``of_questions`` | a question | higher |
| hints and self-consistency, in studies | ``of_follow_ups`` | an answer | higher |
| counterfactual and redaction consistency | ``self_consistency`` | a text | higher |
| biased hints | ``hints`` | questions | higher |
| simulatability gain, NSG | ``simulatability`` | questions | higher |
| CC-SHAP | ``contributions`` | a text | higher |
"""
