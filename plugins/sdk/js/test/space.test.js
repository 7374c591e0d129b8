import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Random, Seen, Space, TightError } from "tunehost";

const vectors = JSON.parse(readFileSync(new URL("../testdata/vectors.json", import.meta.url), "utf8"));

/** @param {(number | null)[]} p */
const point = (p) => Float64Array.from(p, (x) => x ?? NaN);

for (const { seed, uint64 } of vectors.random) {
  test(`random numbers of seed ${seed}`, () => {
    const random = new Random(BigInt(seed));
    assert.deepEqual(uint64.map(() => String(random.uint64())), uint64);
    const one = new Random(BigInt(seed));
    assert.equal(one.float64(), Number(BigInt(uint64[0]) & ((1n << 53n) - 1n)) / 2 ** 53);
  });
}

for (const v of vectors.spaces) {
  const space = new Space({ params: v.params, constraints: v.constraints ?? [] });

  test(`space ${v.name}: samples are those of the Go package, bit by bit`, () => {
    v.samples.forEach((/** @type {number[]} */ want, /** @type {number} */ seed) => {
      assert.deepEqual(space.sample(new Random(seed)), point(want));
    });
  });

  test(`space ${v.name}: values and their places`, () => {
    for (const { i, u, value, back } of v.units) {
      assert.equal(space.fromUnit(i, u), value, `parameter ${i} at ${u}`);
      assert.ok(Math.abs(space.toUnit(i, value) - back) <= 1e-12, `parameter ${i} of ${value}: ${space.toUnit(i, value)}, want ${back}`);
    }
  });

  test(`space ${v.name}: checks, conditions and constraints`, () => {
    for (const { point: p, good, holds, pruned } of v.checks) {
      assert.equal(space.check(point(p)) === null, good, `${p}: ${space.check(point(p))}`);
      assert.equal(space.holds(point(p)), holds, String(p));
      const copy = point(p);
      space.prune(copy);
      assert.deepEqual(copy, point(pruned));
    }
  });

  test(`space ${v.name}: expressions`, () => {
    for (const { expr, point: p, value } of v.exprs) {
      const got = space.evaluate(expr, point(p)) + 0;
      assert.equal(got, (value ?? NaN) + 0, JSON.stringify(expr));
    }
  });

  test(`space ${v.name}: its size and all of its points`, () => {
    assert.equal(space.size(1000), v.size);
    if (v.size !== null) {
      assert.deepEqual([...space.all()], v.all.map(point));
    }
  });

  test(`space ${v.name}: names and values`, () => {
    for (const p of v.samples.map(point)) {
      assert.deepEqual(space.point(space.object(p)), p);
    }
  });
}

const abc = new Space({
  params: [
    { name: "a", kind: "choice", choices: ["x", { deep: [1], also: 2 }] },
    { name: "b", kind: "int", low: 1, high: 3 },
    { name: "c", kind: "choice", choices: [true, false], when: { op: 3, param: 0, set: [1] } },
  ],
});

test("points by name", () => {
  assert.deepEqual(abc.point({ a: { also: 2, deep: [1] }, b: 2, c: false }), Float64Array.of(1, 2, 1));
  assert.deepEqual(abc.point({ a: "x", b: 2, c: true }), Float64Array.of(0, 2, NaN));
  assert.deepEqual(abc.object(Float64Array.of(0, 2, NaN)), { a: "x", b: 2 });
  assert.throws(() => abc.point({ d: 1 }), /parameter "d" is unknown; known: a, b, c/);
  assert.throws(() => abc.point({ a: "z" }), /parameter "a" is "z"; allowed: "x"/);
  assert.throws(() => abc.point({ b: "2" }), /parameter "b" is "2"; allowed: integers from 1 to 3/);
});

test("points that are wrong", () => {
  assert.match(abc.check([0, 1]) ?? "", /length 2/);
  assert.match(abc.check([0, 4, NaN]) ?? "", /parameter "b" is 4; allowed: integers from 1 to 3/);
  assert.match(abc.check([0, 1, 1]) ?? "", /parameter "c" is 1; allowed: no value/);
  assert.match(abc.check([1, 1, NaN]) ?? "", /parameter "c" has no value; allowed: an index from 0 to 1/);
});

test("no point of a finite space comes twice", () => {
  const seen = new Seen(abc);
  const random = new Random(1n);
  const keys = new Set();
  for (let p = seen.pick(null, random, () => abc.draw(random)); p; p = seen.pick(null, random, () => abc.draw(random))) {
    assert.equal(abc.check(p), null);
    keys.add(abc.key(p));
  }
  assert.equal(keys.size, 9);
  assert.ok(seen.full);
  const again = seen.pick([NaN, 2, NaN], random, () => abc.draw(random));
  assert.equal(again?.[1], 2, "a request with coordinates needs an answer");
  assert.throws(() => seen.pick([NaN, 7, NaN], random, () => abc.draw(random)), /parameter "b" is 7/);
});

test("draws that repeat end in what is left", () => {
  const seen = new Seen(abc);
  const random = new Random(1n);
  const fixed = () => [0, 1, NaN];
  const keys = Array.from({ length: 9 }, () => abc.key(seen.pick(null, random, fixed) ?? []));
  assert.equal(new Set(keys).size, 9);
  assert.equal(seen.pick(null, random, fixed), null);
});

test("spaces without an end, or without a point", () => {
  const line = new Space({ params: [{ name: "x", kind: "real", low: 0, high: 1 }], constraints: [{ op: 1, number: 0 }] });
  assert.throws(() => line.sample(new Random(1)), TightError);
  assert.throws(() => new Seen(line).pick(null, new Random(1), () => [0.5]), TightError);
  const none = new Space({ params: [{ name: "x", kind: "int", low: 0, high: 1 }], constraints: [{ op: 1, number: 0 }] });
  assert.throws(() => new Seen(none), /no point of the space satisfies the constraints/);
});

test("numbers that trials have outside of open bounds are at the end", () => {
  const space = new Space({ params: [{ name: "x", kind: "real", low: 0.1, high: 1, log: true }, { name: "n", kind: "int", low: 1, high: 9, log: true }] });
  for (const i of [0, 1]) {
    assert.deepEqual([-1e9, -3, 0, 12].map((x) => space.toUnit(i, x)), [0, 0, 0, 1]);
  }
});
