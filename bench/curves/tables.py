"""Makes tables of trainings for `go run ./bench/fidelity`, of other data sets than the public tables.

    python3 bench/curves/tables.py DIR [NAME ...]

Needs scikit-learn. Data are made, or come with it. A table is in DIR/NAME; DIR/manifest.json lists all.
"""
import gzip
import json
import os
import sys
import time
import warnings

import numpy as np
from sklearn import datasets, ensemble, linear_model, metrics, model_selection, neural_network, preprocessing

warnings.filterwarnings('ignore')


def number(name, low, high, log=False, kind='float', when=None):
    p = {'name': name, 'type': kind, 'low': low, 'high': high, 'log': log}
    return p | ({'when': {'param': when[0], 'in': when[1]}} if when else {})


def whole(name, low, high, log=False, when=None):
    return number(name, low, high, log, 'int', when)


def choice(name, *values):
    return {'name': name, 'type': 'cat', 'choices': list(values)}


def draw(space, rng):
    """Returns a random configuration."""
    c = {}
    for p in space:
        when = p.get('when')
        if when and c.get(when['param']) not in when['in']:
            continue
        if p['type'] == 'cat':
            c[p['name']] = p['choices'][rng.integers(len(p['choices']))]
            continue
        low, high = p['low'], p['high']
        if p['type'] == 'int':
            low, high = low - 0.5, high + 0.499
        x = np.exp(rng.uniform(np.log(max(low, 0.5)), np.log(high))) if p['log'] and p['type'] == 'int' else \
            np.exp(rng.uniform(np.log(low), np.log(high))) if p['log'] else rng.uniform(low, high)
        c[p['name']] = int(np.clip(round(x), p['low'], p['high'])) if p['type'] == 'int' else float(x)
    return c


def split(x, y, train, seed=0, scale=True):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(x))
    a, b = order[:train], order[train:train + 3000]
    if scale:
        s = preprocessing.StandardScaler().fit(x[a])
        x = s.transform(x)
    return x[a], y[a], x[b], y[b]


def boost(data, loss):
    """Boosting, an iteration is a tree: small learning rates start slowly."""
    xa, ya, xb, yb = data
    if loss == 'r2':
        ya, yb = (ya - ya.mean()) / ya.std(), (yb - ya.mean()) / ya.std()

    def train(c, length):
        kind = ensemble.GradientBoostingRegressor if loss == 'r2' else ensemble.GradientBoostingClassifier
        m = kind(n_estimators=length, learning_rate=c['lr'], max_depth=c['depth'], min_samples_leaf=c['leaf'],
                 subsample=c['subsample'], max_features=c['features'], random_state=0).fit(xa, ya)
        if loss == 'r2':
            return [np.sqrt(np.mean((p - yb) ** 2)) for p in m.staged_predict(xb)]
        return [metrics.log_loss(yb, np.clip(p, 1e-6, 1)) for p in m.staged_predict_proba(xb)]
    space = [number('lr', 0.003, 1.0, True), whole('depth', 1, 6), whole('leaf', 1, 40, True),
             number('subsample', 0.2, 1.0), number('features', 0.1, 1.0)]
    return space, train


def net(data, regression=False):
    """Networks trained by epochs."""
    xa, ya, xb, yb = data
    if regression:
        ya, yb = (ya - ya.mean()) / ya.std(), (yb - ya.mean()) / ya.std()

    def train(c, length):
        kind = neural_network.MLPRegressor if regression else neural_network.MLPClassifier
        m = kind(hidden_layer_sizes=(c['width'],) * c['layers'], activation=c['activation'], solver=c['solver'],
                 alpha=c['alpha'], batch_size=c['batch'], learning_rate_init=c['lr'],
                 momentum=c.get('momentum', 0.9), random_state=0)
        out = []
        for _ in range(length):
            try:
                m.partial_fit(xa, ya) if regression else m.partial_fit(xa, ya, classes=np.unique(ya))
                out.append(np.sqrt(np.mean((m.predict(xb) - yb) ** 2)) if regression else
                           metrics.log_loss(yb, np.clip(m.predict_proba(xb), 1e-6, 1)))
            except ValueError:  # it diverged
                out.append(np.nan)
        return out
    space = [number('lr', 1e-4, 0.5, True), number('alpha', 1e-6, 3.0, True), whole('batch', 8, 256, True),
             whole('layers', 1, 3), whole('width', 4, 64, True), choice('activation', 'relu', 'tanh', 'logistic'),
             choice('solver', 'sgd', 'adam'), number('momentum', 0.0, 0.99, when=('solver', ['sgd']))]
    return space, train


def annealed(data):
    """A network whose learning rate falls to zero at its end: large rates look bad until then."""
    xa, ya, xb, yb = data
    k = len(np.unique(ya))
    one = np.eye(k)[ya]

    def train(c, length):
        rng = np.random.default_rng(0)
        w = [rng.normal(0, 1 / np.sqrt(xa.shape[1]), (xa.shape[1], c['width'])), np.zeros(c['width']),
             rng.normal(0, 1 / np.sqrt(c['width']), (c['width'], k)), np.zeros(k)]
        v, out = [np.zeros_like(x) for x in w], []

        def forward(x):
            h = np.maximum(0, x @ w[0] + w[1])
            z = h @ w[2] + w[3]
            p = np.exp(z - z.max(1, keepdims=True))
            return h, p / p.sum(1, keepdims=True)
        for e in range(length):
            rate = c['lr'] * (1 + np.cos(np.pi * e / length)) / 2 * min(1, (e + 1) / (1 + c['warmup'] * length))
            order = rng.permutation(len(xa))
            for i in range(0, len(xa), c['batch']):
                at = order[i:i + c['batch']]
                x = xa[at] * (rng.random(xa[at].shape) >= c['dropout']) / (1 - c['dropout'])
                h, p = forward(x)
                d = (p - one[at]) / len(at)
                back = (d @ w[2].T) * (h > 0)
                gradients = [x.T @ back + c['decay'] * w[0], back.sum(0), h.T @ d + c['decay'] * w[2], d.sum(0)]
                for j, g in enumerate(gradients):
                    v[j] = c['momentum'] * v[j] - rate * g
                    w[j] += v[j]
            out.append(metrics.log_loss(yb, np.clip(np.nan_to_num(forward(xb)[1], nan=1 / k), 1e-6, 1)))
        return out
    space = [number('lr', 1e-3, 3.0, True), number('momentum', 0.0, 0.98), number('decay', 1e-6, 0.1, True),
             whole('batch', 8, 128, True), whole('width', 4, 128, True), number('dropout', 0.0, 0.7),
             number('warmup', 0.0, 0.5)]
    return space, train


def linear(data):
    xa, ya, xb, yb = data

    def train(c, length):
        m = linear_model.SGDClassifier(loss=c['loss'], penalty=c['penalty'], alpha=c['alpha'],
                                       learning_rate=c['schedule'], eta0=c.get('eta0', 0.01),
                                       power_t=c.get('power', 0.5), random_state=0)
        out = []
        for _ in range(length):
            m.partial_fit(xa, ya, classes=np.unique(ya))
            p = m.predict_proba(xb)
            out.append(metrics.log_loss(yb, np.clip(np.nan_to_num(p, nan=0.5), 1e-3, 1)))
        return out
    schedules = ('schedule', ['constant', 'invscaling'])
    space = [choice('loss', 'log_loss', 'modified_huber'), choice('penalty', 'l2', 'l1', 'elasticnet'),
             number('alpha', 1e-7, 0.1, True), choice('schedule', 'optimal', 'constant', 'invscaling'),
             number('eta0', 1e-5, 1.0, True, when=schedules),
             number('power', 0.05, 0.9, when=('schedule', ['invscaling']))]
    return space, train


def forest(data):
    xa, ya, xb, yb = data

    def train(c, length):
        kind = ensemble.RandomForestClassifier if c['model'] == 'forest' else ensemble.ExtraTreesClassifier
        m = kind(n_estimators=length, max_depth=c['depth'], min_samples_leaf=c['leaf'], max_features=c['features'],
                 bootstrap=True, max_samples=c['samples'], random_state=0).fit(xa, ya)
        sums = np.cumsum([t.predict_proba(xb) for t in m.estimators_], axis=0)
        return [metrics.log_loss(yb, np.clip(s / (i + 1), 1e-3, 1)) for i, s in enumerate(sums)]
    space = [choice('model', 'forest', 'extra'), whole('depth', 1, 20, True), whole('leaf', 1, 32, True),
             number('features', 0.05, 1.0), number('samples', 0.1, 1.0)]
    return space, train


def table(name):
    """Returns the space, the trainer, the length and the number of rows."""
    if name == 'gb-friedman':
        x, y = datasets.make_friedman1(3300, n_features=10, noise=3.0, random_state=1)
        return *boost(split(x, y, 300), 'r2'), 81, 450
    if name == 'gb-cancer':
        x, y = datasets.load_breast_cancer(return_X_y=True)
        return *boost(split(x, y, 280), 'log'), 81, 450
    if name == 'mlp-friedman':
        x, y = datasets.make_friedman1(2400, n_features=10, noise=1.0, random_state=2)
        return *net(split(x, y, 400), True), 81, 450
    if name == 'mlp-clusters':
        x, y = datasets.make_classification(2500, 12, n_informative=6, n_redundant=2, n_classes=4,
                                            n_clusters_per_class=3, flip_y=0.05, random_state=3)
        return *net(split(x, y, 500)), 27, 600
    if name == 'annealed-clusters':
        x, y = datasets.make_classification(1900, 12, n_informative=6, n_redundant=2, n_classes=4,
                                            n_clusters_per_class=3, flip_y=0.05, random_state=4)
        return *annealed(split(x, y, 400)), 27, 600
    if name == 'sgd-cancer':
        x, y = datasets.load_breast_cancer(return_X_y=True)
        return *linear(split(x, y, 280)), 27, 600
    if name == 'rf-digits':
        x, y = datasets.load_digits(return_X_y=True)
        return *forest(split(x, y, 500, scale=False)), 27, 450
    raise SystemExit(f'no table {name}')


NAMES = ['gb-friedman', 'gb-cancer', 'mlp-friedman', 'mlp-clusters', 'annealed-clusters', 'sgd-cancer', 'rf-digits']


def unit(space, c):
    """Returns coordinates, NaN for what does not exist; a choice is its index."""
    out = []
    for p in space:
        if p['name'] not in c:
            out.append(np.nan)
        elif p['type'] == 'cat':
            out.append(p['choices'].index(c[p['name']]))
        elif p['log']:
            out.append(np.log(c[p['name']] / p['low']) / np.log(p['high'] / p['low']))
        else:
            out.append((c[p['name']] - p['low']) / (p['high'] - p['low']))
    return out


def distances(space, weights, a, b):
    """As problem.distance of bench/fidelity, for all pairs of rows."""
    total = np.zeros((len(a), len(b)))
    for i, p in enumerate(space):
        x, y = a[:, i][:, None], b[:, i][None, :]
        gone, missing = np.isnan(x), np.isnan(y)
        d = (x != y).astype(float) if p['type'] == 'cat' else (x - y) ** 2
        total += weights[i] * np.where(gone & missing, 0, np.where(gone != missing, 1, d))
    return total


def predict(d, logs, k=4, eps=1e-3):
    near = np.argpartition(d, k, axis=1)[:, :k]
    w = 1 / (np.take_along_axis(d, near, 1) + eps)
    return np.einsum('ij,ij...->i...', w, logs[near]) / w.sum(1).reshape(-1, *[1] * (logs.ndim - 1))


def fit_weights(space, x, y):
    """Chooses the weight of each parameter so that rows are predicted from the others."""
    weights = np.ones(len(space))

    def error(w):
        d = distances(space, w, x, x)
        np.fill_diagonal(d, np.inf)
        return np.mean((predict(d, y) - y) ** 2)
    best = error(weights)
    for _ in range(3):
        for i in range(len(space)):
            for factor in (0.25, 4):
                w = weights.copy()
                w[i] *= factor
                if (e := error(w)) < best:
                    best, weights = e, w
    return weights, 1 - best / np.var(y)


def make(folder, name):
    space, train, length, rows = table(name)
    rng = np.random.default_rng(7)
    configs, curves, costs = [], [], []
    for _ in range(rows):
        c = draw(space, rng)
        begun = time.process_time()
        curve = np.array(train(c, length), float)
        configs.append(c)
        curves.append(curve)
        costs.append(time.process_time() - begun)
    curves = np.array(curves)
    worst = np.nanquantile(curves, 0.99)
    curves = np.minimum(np.where(np.isfinite(curves), curves, worst), worst)
    x, logs = np.array([unit(space, c) for c in configs], float), np.log(np.maximum(curves, 1e-12))
    weights, r2 = fit_weights(space, x, logs[:, -1])
    random = np.array([unit(space, draw(space, rng)) for _ in range(3000)], float)
    out = np.exp(np.concatenate([predict(distances(space, weights, part, x), logs)
                                 for part in np.array_split(np.concatenate([random, x]), 20)]))
    best = float(out.min())
    best = min(best, climb(space, weights, x, logs, np.concatenate([random, x])[np.argsort(out.min(1))[:20]], rng))
    ranks = np.argsort(np.argsort(out[:3000], axis=0), axis=0)
    rho = {str(i): round(float(np.corrcoef(ranks[:, i - 1], ranks[:, -1])[0, 1]), 3)
           for i in (1, 3, 9, 27) if i < length}
    os.makedirs(f'{folder}/{name}', exist_ok=True)
    columns = [p['name'] for p in space]
    text = json.dumps({'columns': columns, 'rows': [[c.get(k) for k in columns] for c in configs]})
    for file, data in (('configs.json', text.encode()), ('curves.f32', curves.astype('<f4').tobytes()),
                       ('cost.f32', np.array(costs, '<f4').tobytes())):
        with open(f'{folder}/{name}/{file}.gz', 'wb') as f:
            f.write(gzip.compress(data, mtime=0))
    return {'id': name, 'dir': name, 'space': {'params': space}, 'table': {'rows': rows, 'resources': length},
            'knn': {'k': 4, 'eps': 1e-3, 'average': 'log', 'weights': dict(zip(columns, weights.tolist())),
                    'loo_r2': round(float(r2), 3)},
            'mf': {'mean_full_cost': float(np.mean(costs)), 'f_best_any': best,
                   'f_rand_median': float(np.median(out[:3000, -1])), 'spearman_to_final': rho}}


def climb(space, weights, x, logs, points, rng):
    """Moves the best points a little, and returns the lowest value that any has at any iteration."""
    best = np.inf
    for _ in range(30):
        tries = np.repeat(points, 30, axis=0)
        for i, p in enumerate(space):
            if p['type'] != 'cat':
                tries[:, i] = np.clip(tries[:, i] + rng.normal(0, 0.03, len(tries)), 0, 1)
        tries = np.concatenate([points, tries])
        values = np.exp(predict(distances(space, weights, tries, x), logs)).min(1)
        best = min(best, float(values.min()))
        points = tries[np.argsort(values)[:20]]
    return best


def main():
    folder, names = sys.argv[1], sys.argv[2:] or NAMES
    for name in names:
        os.makedirs(folder, exist_ok=True)
        p, path = make(folder, name), f'{folder}/manifest.json'
        old = json.load(open(path))['problems'] if os.path.exists(path) else []
        with open(path, 'w') as f:
            json.dump({'problems': [q for q in old if q['id'] != name] + [p]}, f)
        print(name, p['mf'], p['knn'], flush=True)


if __name__ == '__main__':
    main()
