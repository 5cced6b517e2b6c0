"""What the common acronyms of the field stand for.

Initials spell acronyms by chance: of two letters always, of three often ("data produced online" is no DPO).
So the common ones mean these words and no others.
"""

from __future__ import annotations

ACRONYMS = {
    "ai": "artificial intelligence", "ml": "machine learning", "rl": "reinforcement learning",
    "dl": "deep learning", "kv": "key value", "kd": "knowledge distillation", "lm": "language model",
    "nn": "neural network", "cv": "computer vision", "qa": "question answering",
    "ir": "information retrieval", "gd": "gradient descent", "ot": "optimal transport",
    "fl": "federated learning", "dpo": "direct preference optimization",
    "ppo": "proximal policy optimization", "grpo": "group relative policy optimization",
    "sft": "supervised fine tuning", "rlhf": "reinforcement learning from human feedback",
    "rlaif": "reinforcement learning from ai feedback", "moe": "mixture of experts",
    "cot": "chain of thought", "icl": "in context learning", "rag": "retrieval augmented generation",
    "llm": "large language model", "slm": "small language model", "vlm": "vision language model",
    "mllm": "multimodal large language model", "plm": "pretrained language model",
    "gnn": "graph neural network", "cnn": "convolutional neural network",
    "rnn": "recurrent neural network", "snn": "spiking neural network", "dnn": "deep neural network",
    "vae": "variational autoencoder", "gan": "generative adversarial network",
    "sgd": "stochastic gradient descent", "svd": "singular value decomposition",
    "pca": "principal component analysis", "mlp": "multilayer perceptron", "ssm": "state space model",
    "ebm": "energy based model", "mdp": "markov decision process", "ood": "out of distribution",
    "tts": "text to speech", "asr": "automatic speech recognition", "vqa": "visual question answering",
    "nlp": "natural language processing", "nli": "natural language inference",
    "ner": "named entity recognition", "ntk": "neural tangent kernel", "prm": "process reward model",
    "orm": "outcome reward model", "dit": "diffusion transformer", "vit": "vision transformer",
    "pde": "partial differential equation", "ode": "ordinary differential equation",
    "sde": "stochastic differential equation", "rct": "randomized controlled trial",
}  # fmt: skip
