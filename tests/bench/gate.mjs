// The contract's functions as one writes them by hand in JavaScript: a Map, `node:crypto`, JSON.parse and sorted keys. It
// keeps the same rules as the gate (owner, tool, arguments, revision, time, one run, replay, room, identical calls), and
// not what makes them hold: JSON.parse merges duplicate keys and rounds large numbers, and rows are objects of this
// process. Reads `RUNS BATCH` a line, answers a JSON array of nanoseconds: [issue, consume, record, replay].

import { createHash, randomBytes } from "node:crypto";
import { createInterface } from "node:readline";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const TTL = 300_000;
const TOMBSTONE = 86_400_000;
const RECENT = 600_000;

let time = 1_700_000_000_000;
const now = () => time;

function base32(bytes) {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(value >>> bits) & 31];
    }
  }
  return text;
}

const sha256 = (text) => createHash("sha256").update(text).digest("base64");

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

function read(raw) {
  const value = JSON.parse(raw);
  const token = value.confirm_token;
  delete value.confirm_token;
  return { token, args: canonical(value) };
}

class Gate {
  rows = new Map(); // by digest of the token
  byBinding = new Map(); // binding → rows that are not pending
  pending = new Map(); // owner → how many
  pendingInAll = 0;

  binding(call) {
    const { owner, tool, args } = call;
    return sha256(`binding/1\n${owner.length}:${owner}${tool.length}:${tool}${args.length}:${args}`);
  }

  issue(call, plan) {
    if (!call.owner || !call.tool || !call.revision) throw new Error("an empty owner, tool or revision");
    JSON.parse(plan.preview);
    const binding = this.binding(call);
    const recent = [];
    for (const row of this.byBinding.get(binding) ?? []) {
      if (row.state === "in_flight" && now() >= row.deadline) return { reject: "unresolved" };
      if (now() - row.changed < RECENT) recent.push({ state: row.state, ago: now() - row.changed });
    }
    const ofOwner = this.pending.get(call.owner) ?? 0;
    if (ofOwner >= 1_000_000 || this.pendingInAll >= 1_000_000) return { reject: "too_many_pending" };
    const token = `cfm_${base32(randomBytes(15))}`;
    const row = {
      ...call, plan, binding, state: "pending", issued: now(), expires: now() + TTL,
      approvalId: `apr_${base32(randomBytes(15))}`,
    };
    this.rows.set(sha256(token), row);
    this.pending.set(call.owner, ofOwner + 1);
    this.pendingInAll++;
    return { token, approvalId: row.approvalId, expires: row.expires, recent };
  }

  verdict(row, call) {
    if (!row) return { reject: "unknown_or_used" };
    if (row.owner !== call.owner) return { reject: "wrong_owner" };
    if (row.tool !== call.tool) return { reject: "wrong_tool" };
    if (row.binding !== this.binding(call)) return { reject: "params_changed" };
    if (row.state === "completed") {
      return now() < row.replayUntil ? { replay: row.outcome } : { reject: "unknown_or_used" };
    }
    if (row.state === "in_flight") return { reject: "unknown_or_used" };
    if (now() >= row.expires || now() < row.issued) return { reject: "expired" };
    if (row.revision !== call.revision) return { reject: "tool_changed" };
    return {};
  }

  consume(token, call, run) {
    if (!/^cfm_[a-z2-7]{24}$/.test(token)) return { reject: "malformed_token" };
    const row = this.rows.get(sha256(token));
    const verdict = this.verdict(row, call);
    if (verdict.reject || verdict.replay) return verdict;
    const same = this.byBinding.get(row.binding) ?? [];
    if (same.some((other) => other.state === "in_flight")) return { reject: "unresolved" };
    row.state = "in_flight";
    row.changed = now();
    row.deadline = now() + run;
    row.operationId = `op_${base32(randomBytes(15))}`;
    same.push(row);
    this.byBinding.set(row.binding, same);
    this.pending.set(row.owner, this.pending.get(row.owner) - 1);
    this.pendingInAll--;
    return { execute: { arguments: call.args, operationId: row.operationId, deadline: row.deadline } };
  }

  record(token, operationId, outcome) {
    const row = this.rows.get(sha256(token));
    if (!row || row.operationId !== operationId) throw new Error("no such run");
    row.state = "completed";
    row.changed = now();
    row.replayUntil = now() + TTL;
    row.outcome = outcome;
  }

  sweep() {
    for (const [key, row] of this.rows) {
      if (now() < row.changed + TOMBSTONE) continue;
      this.rows.delete(key);
      this.byBinding.delete(row.binding);
    }
  }
}

const gate = new Gate();
let serial = 0;

function batch(size, template, plan, payload, spent) {
  const calls = [];
  for (let i = 0; i < size; i++) calls.push({ raw: template.replace("@", String(100_000 + (serial++ % 900_000))) });
  const of = (args) => ({ owner: "name:bench", tool: "update_offer_payout", revision: "r1", args });
  const timed = (index, work) => {
    const start = process.hrtime.bigint();
    for (const call of calls) work(call);
    spent[index] += Number(process.hrtime.bigint() - start);
  };
  timed(0, (call) => {
    call.token = gate.issue(of(read(call.raw).args), { ...plan }).token;
  });
  for (const call of calls) call.confirm = `${call.raw.slice(0, -1)},"confirm_token":"${call.token}"}`;
  timed(1, (call) => {
    const { token, args } = read(call.confirm);
    call.operationId = gate.consume(token, of(args), 30_000).execute.operationId;
  });
  timed(2, (call) => gate.record(call.token, call.operationId, { status: "ok", payload }));
  timed(3, (call) => {
    const { token, args } = read(call.confirm);
    if (gate.consume(token, of(args), 30_000).replay.payload !== payload) throw new Error("no replay");
  });
  time += 2 * TOMBSTONE;
  gate.sweep();
}

const { template, plan, payload } = JSON.parse(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const [runs, size] = line.split(" ").map(Number);
  const spent = [0, 0, 0, 0];
  for (let left = runs; left > 0; left -= size) batch(Math.min(size, left), template, plan, payload, spent);
  process.stdout.write(`${JSON.stringify(spent)}\n`);
}
