/** The load client, a separate process: takes one job at a time over IPC and returns a tally. */
import { openConnection, whatIsWrong } from './connection.ts'
import type { Answer, Connection } from './connection.ts'
import type { Requests, Expected, Job, Tally } from './job.ts'
import { requestBody, requestPath } from './traffic.ts'

let held: readonly Connection[] = []

process.on('message', (job: Job) => {
  run(job).then(
    (tally) => process.send?.(tally),
    (error: unknown) =>
      process.send?.({ ...newTally().close(), wrong: 1, firstWrong: String(error) }),
  )
})
process.on('disconnect', () => process.exit())

async function run(job: Job): Promise<Tally> {
  switch (job.kind) {
    case 'closed':
      return runClosed(job)
    case 'open':
      return runOpen(job)
    case 'hold':
      return hold(job)
    case 'release':
      for (const connection of held) connection.close()
      held = []
      return newTally().close()
  }
}

async function runClosed(job: Job & { kind: 'closed' }): Promise<Tally> {
  const connections = await openConnections(job.target.port, job.connections)
  const request = requestBytes(job)
  const tally = newTally()
  const endAt = performance.now() + job.until.forMs
  let begun = 0
  await Promise.all(connections.map((connection, at) => askAgainAndAgain(connection, at)))
  for (const connection of connections) connection.close()
  return tally.close()

  function askAgainAndAgain(connection: Connection, at: number): Promise<void> {
    return new Promise((resolve) => {
      const next = (): void => {
        if (begun >= job.until.atMost) return resolve()
        if (performance.now() >= endAt && begun >= job.until.atLeast) return resolve()
        begun += 1
        connection.ask(request, (answer) => {
          tally.add(answer, job.expected)
          if (answer.broken === null) next()
          else resolve()
        })
      }
      // Paced streams start one after the other, so that their chunks do not coincide.
      setTimeout(next, (at / job.connections) * startWithinMs(job))
    })
  }
}

function startWithinMs({ traffic }: Requests): number {
  return traffic.answer.kind === 'stream' && traffic.answer.perSecond > 0
    ? 1000 / traffic.answer.perSecond
    : 0
}

/** Sends each request on a free connection, without waiting for earlier answers. */
async function runOpen(job: Job & { kind: 'open' }): Promise<Tally> {
  const all = await openConnections(job.target.port, job.perSecond)
  const free = [...all]
  const request = requestBytes(job)
  const tally = newTally()
  const startedAt = performance.now()
  const count = Math.round((job.perSecond * job.forMs) / 1000)
  await new Promise<void>((resolve) => {
    let begun = 0
    let ended = 0
    const tick = (): void => {
      const connection = free.pop()
      if (connection === undefined) tally.fail('more streams at a time than connections')
      begun += 1
      connection?.ask(request, (answer) => {
        tally.add(answer, job.expected)
        free.push(connection)
        ended += 1
        if (ended === count) resolve()
      })
      if (connection === undefined) return resolve()
      const dueAt = startedAt + (begun * 1000) / job.perSecond
      if (begun < count) setTimeout(tick, Math.max(0, dueAt - performance.now()))
    }
    tick()
  })
  for (const connection of all) connection.close()
  return tally.close()
}

async function hold(job: Job & { kind: 'hold' }): Promise<Tally> {
  const connections = await openConnections(job.target.port, job.connections)
  held = connections
  const request = requestBytes(job)
  const tally = newTally()
  const begun = connections.map(
    (connection) =>
      new Promise<void>((resolve) => {
        connection.ask(
          request,
          (answer) => {
            tally.fail(`ended early: status ${answer.status}, …${answer.tail}`)
            resolve()
          },
          resolve,
        )
      }),
  )
  await Promise.all(begun)
  return tally.close()
}

async function openConnections(port: number, count: number): Promise<readonly Connection[]> {
  return Promise.all(Array.from({ length: count }, () => openConnection(port)))
}

function requestBytes({ target, traffic }: Requests): Buffer {
  const body = requestBody(traffic)
  const headers = { ...target.headers, 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(
    `POST ${requestPath(traffic)} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n${body}`,
  )
}

interface OpenTally {
  readonly add: (answer: Answer, expected: Expected | null) => void
  readonly fail: (reason: string) => void
  readonly close: () => Tally
}

function newTally(): OpenTally {
  const startedAt = performance.now()
  const firstByteMs: number[] = []
  const totalMs: number[] = []
  let answers = 0
  let wrong = 0
  let firstWrong: string | null = null
  const fail = (reason: string): void => {
    wrong += 1
    firstWrong ??= reason
  }
  return {
    fail,
    add(answer, expected) {
      answers += 1
      if (totalMs.length < 5000) {
        firstByteMs.push(answer.firstByteMs)
        totalMs.push(answer.totalMs)
      }
      const reason = expected === null ? null : whatIsWrong(answer, expected)
      if (reason !== null) fail(reason)
    },
    close() {
      const elapsedMs = performance.now() - startedAt
      return { answers, elapsedMs, firstByteMs, totalMs, wrong, firstWrong }
    },
  }
}
