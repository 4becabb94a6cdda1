// pg-boss: insert() in bulk; work() with a large batch, burstWhenBatchFull; notify for latency. Commands: see bench/party.py.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const req = createRequire(process.env.PEER_NPM + "/x.js");
const { PgBoss } = await import(pathToFileURL(req.resolve("pg-boss")));
const connectionString = process.env.PEER_URL;
const opt = (k, d) => Number(process.env["PEER_" + k] ?? d);
const now = () => process.hrtime.bigint();
const [cmd, N, K, J] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const payload = (i) => ({ t: Number(now()), i, pad: "x".repeat(58) });
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const wakes = cmd === "latency" || cmd === "soak";
const boss = new PgBoss({ connectionString, schedule: false, useListenNotify: wakes });
boss.on("error", (e) => console.error(e));
await boss.start();

async function work() {
  let c = 0, lats = [];
  if (cmd === "soak") setInterval(() => {
    console.log("SECOND", String(now()), JSON.stringify(lats.map((ms) => Math.round(ms * 100) / 100))); lats = [];
  }, 1000);
  console.log("START", String(now()));
  await boss.work("bench", { batchSize: opt("BATCH", 10), localConcurrency: opt("CONC", 1),
    burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    for (const j of jobs) {
      if (wakes) lats.push((Number(now()) - j.data.t) / 1e6);
      if (++c === N) console.log("HANDLED", String(now()), JSON.stringify(lats));
    }
  });
  await sleep(2 ** 31 - 1);
}

async function enqueue() {
  await boss.getQueue("bench");
  const t0 = now();
  for (let lo = 0; lo < N; lo += K) {
    const jobs = [];
    for (let i = lo; i < Math.min(N, lo + K); i++) jobs.push({ data: payload(i) });
    await boss.insert("bench", jobs);
  }
  console.log("ENQUEUED", Number(now() - t0) / 1e9);
}

async function produce() {
  for (let i = 0; i < N; i++) { await boss.send("bench", payload(i)); await sleep(K + Math.random() * J); }
}

async function pour() {
  const t0 = now(); let sent = 0, elapsed;
  while ((elapsed = Number(now() - t0) / 1e9) < K) {
    const due = Math.min(5000, Math.floor(elapsed * N) - sent);
    if (due > 0) { await boss.insert("bench", Array.from({ length: due }, (_, i) => ({ data: payload(sent + i) }))); sent += due; }
    await sleep(20);
  }
  console.log("SENT", sent);
}

const setup = () => boss.createQueue("bench", { partition: true, notify: true });
await { setup, enqueue, produce, pour, work, latency: work, soak: work }[cmd]();
await boss.stop({ graceful: false });
process.exit(0);
