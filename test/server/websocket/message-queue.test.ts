import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import {
  createMessageQueue,
  type MessageQueue,
} from '../../../src/server/websocket/message-queue.ts'
import { UNLIMITED_MEMORY } from '../../support/unlimited-memory.ts'

/** A message that begins with a letter and has the given size. */
const message = (text: string, bytes = 10) => ({
  text: new TextEncoder().encode(text.padEnd(bytes)),
  memory: UNLIMITED_MEMORY.trackRequest('t'),
})

function takeAll(queue: MessageQueue): readonly (string | null)[] {
  const taken: (string | null)[] = []
  for (let one = queue.take(); one !== undefined; one = queue.take()) {
    taken.push(
      one instanceof GatewayError
        ? one.failure.code
        : new TextDecoder().decode(one.text ?? undefined).trim(),
    )
  }
  return taken
}

test('the WebSocket message queue returns messages in the order of their arrival', () => {
  const queue = createMessageQueue(100)
  for (const text of ['a', 'b', 'c']) queue.add(message(text))
  expect(takeAll(queue)).toEqual(['a', 'b', 'c'])
  expect(queue.take()).toBeUndefined()
})

test('the WebSocket message queue returns an error in place of a message that is too large', () => {
  const queue = createMessageQueue(100)
  queue.add(message('a', 101))
  queue.add(message('b', 100))
  expect(takeAll(queue)).toEqual(['request_too_large', 'b'])
})

test('the WebSocket message queue accepts at most 16 waiting messages, which together may be as large as one message', () => {
  const heavy = createMessageQueue(100)
  for (const text of ['a', 'b', 'c']) heavy.add(message(text, 50))
  expect(takeAll(heavy)).toEqual(['a', 'b', 'rate_limit_exceeded'])
  const many = createMessageQueue(100)
  for (let at = 0; at < 17; at += 1) many.add(message(String(at), 1))
  expect(takeAll(many).at(-1)).toBe('rate_limit_exceeded')
  // A message that was taken no longer counts.
  expect(heavy.add(message('d', 100))).toBe(true)
  expect(takeAll(heavy)).toEqual(['d'])
})

test('the WebSocket message queue accepts no more messages while 256 errors wait in it', () => {
  const queue = createMessageQueue(100)
  const added = Array.from({ length: 300 }, () => queue.add(message('', 101)))
  expect(added.indexOf(false)).toBe(256)
})
