/**
 * The provider behind every subject, a separate process: reads a request and sends the prepared response that
 * the model's name selects. Rejects a request in which a message was lost.
 */
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { prepareResponse, refusal } from './canned.ts'
import type { PreparedResponse } from './canned.ts'
import { countMarks } from './count-marks.ts'
import { httpFrames } from './http-frames.ts'
import { parseModel } from './traffic.ts'

const answers = new Map<
  string,
  { readonly canned: PreparedResponse; readonly requestMarks: number }
>()

const server = createServer({ noDelay: true }, serve)
server.listen(0, '127.0.0.1', 4096, () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.on('disconnect', () => process.exit())

function serve(socket: Socket): void {
  let marks = 0
  let model: string | null = null
  const read = httpFrames({
    head() {
      marks = 0
      model = null
    },
    body(bytes, from, to) {
      marks += countMarks(bytes, from, to)
      model ??= modelIn(bytes)
    },
    end: () => answer(socket, model, marks),
  })
  socket.on('data', read)
  // In some scenarios, subjects hang up in the middle of a stream.
  socket.on('error', () => socket.destroy())
}

function modelIn(bytes: Buffer): string | null {
  const at = bytes.indexOf('"model":', 0, 'latin1')
  if (at < 0) return null
  return /^"model": *"(mock[^"]*)"/.exec(bytes.toString('latin1', at, at + 80))?.[1] ?? null
}

function answer(socket: Socket, model: string | null, marks: number): void {
  const found = model === null ? null : answerFor(model)
  if (found === null) socket.write(refusal(`no such model: ${model}`))
  else if (marks !== found.requestMarks) {
    socket.write(refusal(`${found.requestMarks} messages were sent, ${marks} arrived`))
  } else if (found.canned.thinkMs === 0) sendResponse(socket, found.canned)
  else setTimeout(sendResponse, found.canned.thinkMs, socket, found.canned)
}

function sendResponse(socket: Socket, canned: PreparedResponse): void {
  if (canned.gapMs > 0) return sendPaced(socket, canned)
  socket.write(canned.first)
  for (const piece of canned.rest) socket.write(piece)
}

function answerFor(
  model: string,
): { readonly canned: PreparedResponse; readonly requestMarks: number } | null {
  const known = answers.get(model)
  if (known !== undefined) return known
  const plan = parseModel(model)
  if (plan === null) return null
  const made = { canned: prepareResponse(plan.answer), requestMarks: plan.requestMarks }
  answers.set(model, made)
  return made
}

/** Computes due times from the start, so that a late timer does not slow the stream down. */
function sendPaced(socket: Socket, { first, rest, gapMs }: PreparedResponse): void {
  const startedAt = performance.now()
  let next = 0
  socket.write(first)
  const step = (): void => {
    const piece = rest[next++]
    if (piece === undefined || socket.destroyed) return
    socket.write(piece)
    const dueAt = startedAt + (next + 1) * gapMs
    if (next < rest.length) setTimeout(step, Math.max(0, dueAt - performance.now()))
  }
  setTimeout(step, gapMs)
}
