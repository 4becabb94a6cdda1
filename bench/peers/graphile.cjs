// graphile-worker: addJobs in bulk; worker preset as in its own performance page. Commands: see bench/party.py.
const { createRequire } = require("module");
const req = createRequire(process.env.PEER_NPM + "/x.js");
const { run, makeWorkerUtils, Logger } = req("graphile-worker");
const connectionString = process.env.PEER_URL;
const opt = (k, d) => Number(process.env["PEER_" + k] ?? d);
const now = () => process.hrtime.bigint();
const [cmd, N, K, J] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const payload = (i) => ({ t: Number(now()), i, pad: "x".repeat(58) });
const job = (i) => ({ identifier: "noop", payload: payload(i) });
const logger = new Logger(() => () => {});
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

async function work() {
  const drains = cmd === "work"; let c = 0, lats = [];
  const taskList = { noop: async (p) => {
    if (!drains) lats.push((Number(now()) - p.t) / 1e6);
    if (++c === N) console.log("HANDLED", String(now()), JSON.stringify(lats));
  } };
  if (cmd === "soak") setInterval(() => {
    console.log("SECOND", String(now()), JSON.stringify(lats.map((ms) => Math.round(ms * 100) / 100))); lats = [];
  }, 1000);
  const size = opt("LOCALQ", -1);
  const worker = { connectionString, concurrentJobs: opt("CONC", 24), maxPoolSize: opt("POOL", 25),
    ...(size > 0 ? { localQueue: { size }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}) };
  console.log("START", String(now()));
  await run({ preset: { worker: { ...worker, logger } }, taskList, noHandleSignals: true, logger });
  await sleep(2 ** 31 - 1);
}

async function enqueue(u) {
  const t0 = now();
  for (let lo = 0; lo < N; lo += K) {
    const jobs = [];
    for (let i = lo; i < Math.min(N, lo + K); i++) jobs.push(job(i));
    await u.addJobs(jobs);
  }
  console.log("ENQUEUED", Number(now() - t0) / 1e9);
}

async function produce(u) {
  for (let i = 0; i < N; i++) { await u.addJob("noop", payload(i)); await sleep(K + Math.random() * J); }
}

async function pour(u) {
  const t0 = now(); let sent = 0, elapsed;
  while ((elapsed = Number(now() - t0) / 1e9) < K) {
    const due = Math.min(5000, Math.floor(elapsed * N) - sent);
    if (due > 0) { await u.addJobs(Array.from({ length: due }, (_, i) => job(sent + i))); sent += due; }
    await sleep(20);
  }
  console.log("SENT", sent);
}

(async () => {
  if (["work", "latency", "soak"].includes(cmd)) return work();
  const u = await makeWorkerUtils({ connectionString, logger });
  if (cmd === "setup") await u.migrate();
  else await { enqueue, produce, pour }[cmd](u);
  await u.release();
})().catch((e) => { console.error(e); process.exit(1); });
