"""Greedy, exhaustive and beam search over a toy model, in plain Python.

The model is `log_prob_fn(prefix)`: from a tuple of token ids, the start
token first, to the log-probabilities `(vocab,)` of the next token. The
`tokens` of a hypothesis are the produced ones, as a tuple: without the start
token, with the end token where there is one.
"""

import numpy as np


def length_penalty(length, alpha):
    """((5 + length) / 6) ** alpha (Wu et al. 2016).

    `length` counts the produced tokens, the end token included.
    """
    return ((5 + length) / 6) ** alpha


def log_prob_of(tokens, log_prob_fn, start_id):
    """sum_t log p(token_t | start, token_1 .. token_{t-1})."""
    prefix = (start_id,)
    total = 0.0
    for token in tokens:
        total += float(log_prob_fn(prefix)[token])
        prefix += (token,)
    return total


def by_score(hypothesis):
    """Sort key: the second member of the pair, highest first."""
    return -hypothesis[1]


def greedy(log_prob_fn, start_id, end_id, max_length):
    """The likeliest token at each step, up to the end token.

    Returns `(tokens, log_prob)`, with at most `max_length` tokens.
    """
    tokens, total = (), 0.0
    while len(tokens) < max_length:
        log_probs = log_prob_fn((start_id,) + tokens)
        token = int(np.argmax(log_probs))
        tokens += (token,)
        total += float(log_probs[token])
        if token == end_id:
            break
    return tokens, total


def exhaustive(log_prob_fn, start_id, end_id, max_length, score):
    """Every hypothesis there is, in the order of a beam search.

    Those that end within `max_length` tokens, best first, and behind them
    those that are cut there, best first; none of probability 0. `score` is a
    function of the tokens and their log-probability. Returns a list of
    `(tokens, score)`.
    """
    ended, cut = [], []

    def extend(tokens, total):
        if tokens[-1:] == (end_id,):
            ended.append((tokens, score(tokens, total)))
        elif len(tokens) == max_length:
            cut.append((tokens, score(tokens, total)))
        else:
            log_probs = log_prob_fn((start_id,) + tokens)
            for token, log_prob in enumerate(log_probs):
                if log_prob > -np.inf:
                    extend(tokens + (token,), total + float(log_prob))

    extend((), 0.0)
    return sorted(ended, key=by_score) + sorted(cut, key=by_score)


def by_length(alpha):
    """The score `log p(tokens) / length_penalty`."""
    return lambda tokens, total: total / length_penalty(len(tokens), alpha)


def by_length_and_coverage(alpha, beta, looks_fn, start_id):
    """The score of Wu et al. 2016; `looks_fn(prefix)` is `(positions,)`."""

    def score(tokens, total):
        prefixes = [(start_id, *tokens[:t]) for t in range(len(tokens))]
        alignments = [looks_fn(prefix) for prefix in prefixes]
        coverage = coverage_penalty(alignments, None, beta)
        return total / length_penalty(len(tokens), alpha) + coverage

    return score


def constrained(
    log_prob_fn,
    end_id,
    min_length=0,
    forbidden_ids=(),
    no_repeat_ngram=0,
    repeatable_ids=(),
):
    """`log_prob_fn` with -inf for what must not be said.

    The prefix holds the start token, which is part of no n-gram. Where no
    token is left, the end is.
    """

    def repeats(tokens):
        n = no_repeat_ngram
        ngrams = [tokens[i : i + n] for i in range(len(tokens) - n + 1)]
        if n == 0 or not ngrams or set(ngrams[-1]) & set(repeatable_ids):
            return False
        return ngrams[-1] in ngrams[:-1]

    def refused(said, token):
        too_early = token == end_id and len(said) < min_length
        return too_early or token in forbidden_ids or repeats((*said, token))

    def constrained_fn(prefix):
        log_probs = np.array(log_prob_fn(prefix), "float64")
        ending = log_probs[end_id]
        for token in range(len(log_probs)):
            if refused(prefix[1:], token):
                log_probs[token] = -np.inf
        if log_probs.max() == -np.inf:
            log_probs[end_id] = ending
        return log_probs

    return constrained_fn


def with_phrases(log_prob_fn, prefix=(), forbidden=()):
    """`log_prob_fn` with -inf for what leaves a prefix or ends a phrase."""

    def ends(tokens, phrase):
        return phrase and tokens[-len(phrase) :] == phrase

    def restricted_fn(said):
        log_probs, tokens = np.array(log_prob_fn(said), "float64"), said[1:]
        for token in range(len(log_probs)):
            if len(tokens) < len(prefix):
                refused = token != prefix[len(tokens)]
            else:
                refused = any(ends((*tokens, token), x) for x in forbidden)
            if refused:
                log_probs[token] = -np.inf
        return log_probs

    return restricted_fn


def contains(tokens, phrase):
    """Whether the tokens of a phrase follow each other somewhere."""
    size = len(phrase)
    return any(
        tokens[i : i + size] == phrase for i in range(len(tokens) - size + 1)
    )


def sampled(log_prob_fn, temperature=1.0, top_k=None, top_p=1.0):
    """The log-probabilities that a token is drawn with."""

    def sampled_fn(prefix):
        logits = np.array(log_prob_fn(prefix), "float64") / temperature
        order = np.argsort(-logits)[:top_k]
        p = np.exp(logits[order] - logits.max())
        p /= p.sum()
        p[np.cumsum(p) - p >= top_p] = 0.0
        drawn = np.zeros(len(logits))
        drawn[order] = p / p.sum()
        with np.errstate(divide="ignore"):
            return np.log(drawn)

    return sampled_fn


def expand(alive, log_prob_fn, start_id):
    """Every alive hypothesis with every next token, likeliest first.

    Equally likely ones keep the order of the alive list, then of the ids.
    A continuation of probability 0 is no candidate.
    """
    candidates = []
    for tokens, total in alive:
        log_probs = log_prob_fn((start_id,) + tokens)
        for token in range(len(log_probs)):
            log_prob = total + float(log_probs[token])
            if log_prob > -np.inf:
                candidates.append((tokens + (token,), log_prob))
    return sorted(candidates, key=by_score)


def beam_search(
    log_prob_fn, start_id, end_id, max_length, beam_width, alpha, count=1
):
    """Beam search that keeps its finished hypotheses aside.

    A step looks at the `2 * beam_width` likeliest candidates. Those that end
    and are among the first `beam_width` are finished, and never change
    again. The first `beam_width` that do not end stay alive. The search stops
    once `beam_width` hypotheses are finished and no alive one, as it is,
    scores above the `count` best of them, or no alive one can still do so, or
    at `max_length` tokens.

    Returns a list of at most `count` pairs `(tokens, score)`: the
    finished hypotheses, best first, then the alive ones, best first, in the
    positions that are left.
    """
    alive = [((), 0.0)]  # (tokens, log-probability)
    finished = []  # (tokens, score)
    for _ in range(max_length):
        candidates = expand(alive, log_prob_fn, start_id)[: 2 * beam_width]
        for tokens, log_prob in candidates[:beam_width]:
            if tokens[-1] == end_id:
                score = log_prob / length_penalty(len(tokens), alpha)
                finished.append((tokens, score))
        alive = [pair for pair in candidates if pair[0][-1] != end_id]
        alive = alive[:beam_width]
        if not alive:
            break
        if len(finished) >= count:
            last = sorted(finished, key=by_score)[count - 1][1]
            best_alive = max(log_prob for _, log_prob in alive)
            now = best_alive / length_penalty(len(alive[0][0]), alpha)
            if len(finished) >= beam_width and last >= now:
                break
            # A log-probability only falls, and the penalty divides it by
            # most at the greatest length.
            if last >= best_alive / length_penalty(max_length, alpha):
                break
    unfinished = [
        (tokens, log_prob / length_penalty(len(tokens), alpha))
        for tokens, log_prob in alive
    ]
    ranked = sorted(finished, key=by_score) + sorted(unfinished, key=by_score)
    return ranked[:count]


def coverage_penalty(alignments, mask, beta):
    """beta * sum_j log(min(sum_t a_tj, 1)) over the unmasked positions j.

    `alignments` is `(target_len, source_len)`, `mask` is `(source_len,)` or
    `None`. A position that was never attended to makes it -inf, but at `beta`
    0 the result is 0 (Wu et al. 2016).
    """
    if beta == 0:
        return 0.0
    alignments = np.asarray(alignments, dtype="float64")
    total = 0.0
    for j in range(alignments.shape[1]):
        if mask is None or mask[j]:
            coverage = min(alignments[:, j].sum(), 1.0)
            total += np.log(coverage) if coverage > 0 else -np.inf
    return float(beta * total)
