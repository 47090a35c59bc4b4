/**
 * Sends one request to a subject before anything is measured, and checks the answer: the mock upstream's text
 * in order, and the end. Later answers only need the same size and number of marks, which is cheap to check.
 */
import { wholeText } from './canned.ts'
import type { Expected, Target } from './job.ts'
import { MARK, requestBody, requestPath, streamedText } from './traffic.ts'
import type { Traffic } from './traffic.ts'

export async function probe(target: Target, traffic: Traffic, exact: boolean): Promise<Expected> {
  const response = await fetch(`http://127.0.0.1:${target.port}${requestPath(traffic)}`, {
    method: 'POST',
    headers: target.headers,
    body: requestBody(traffic),
    signal: AbortSignal.timeout(20_000),
  })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`status ${response.status}: ${body.slice(0, 300)}`)
  const { answer } = traffic
  const said = answer.kind === 'json' ? textOfWhole(body) : textOfStream(body)
  const meant = answer.kind === 'stream' ? streamedText(answer.chunks) : wholeText()
  if (said !== meant) throw new Error(`the text differs ${differenceOf(said, meant)}`)
  const bytes = Buffer.byteLength(body)
  return {
    marks: body.split(MARK).length - 1,
    bytes,
    tolerance: exact ? 0 : 64 + bytes / 100,
    ending: body.trimEnd().endsWith('[DONE]') ? '[DONE]' : '}',
  }
}

/** The fields of answers and events of both APIs that contain text or an end. */
interface TextFields {
  readonly type?: string
  readonly delta?: string
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string }
    readonly message?: { readonly content: string }
  }[]
}

function textOfWhole(body: string): string {
  return (JSON.parse(body) as TextFields).choices?.[0]?.message?.content ?? ''
}

function textOfStream(body: string): string {
  let text = ''
  let last = ''
  for (const line of body.split('\n')) {
    if (!line.startsWith('data: ')) continue
    last = line.slice('data: '.length)
    if (last === '[DONE]') continue
    const event = JSON.parse(last) as TextFields
    if (event.type === 'response.output_text.delta') text += event.delta ?? ''
    else text += event.choices?.[0]?.delta?.content ?? ''
    if (event.type === 'response.completed') return text
  }
  if (last !== '[DONE]') throw new Error(`the stream ended in ${last.slice(0, 200)}`)
  return text
}

function differenceOf(said: string, meant: string): string {
  let at = 0
  while (at < meant.length && said[at] === meant[at]) at += 1
  return `from character ${at} of ${meant.length} on: ${JSON.stringify(said.slice(at, at + 40))}`
}
