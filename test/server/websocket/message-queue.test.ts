import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import {
  createMessageQueue,
  type MessageQueue,
} from '../../../src/server/websocket/message-queue.ts'

const message = (text: string, bytes = 10) => ({ text, bytes })

function all(line: MessageQueue): readonly (string | null)[] {
  const taken: (string | null)[] = []
  for (let one = line.take(); one !== undefined; one = line.take()) {
    taken.push(one instanceof GatewayError ? one.failure.code : one.text)
  }
  return taken
}

test('what comes first is taken first', () => {
  const line = createMessageQueue(100)
  for (const text of ['a', 'b', 'c']) line.add(message(text))
  expect(all(line)).toEqual(['a', 'b', 'c'])
  expect(line.take()).toBeUndefined()
})

test('a message that is too large is refused when its turn comes', () => {
  const line = createMessageQueue(100)
  line.add(message('a', 101))
  line.add(message('b', 100))
  expect(all(line)).toEqual(['request_too_large', 'b'])
})

test('no more waits than one message may hold, nor more than sixteen', () => {
  const heavy = createMessageQueue(100)
  for (const text of ['a', 'b', 'c']) heavy.add(message(text, 50))
  expect(all(heavy)).toEqual(['a', 'b', 'rate_limit_exceeded'])
  const many = createMessageQueue(100)
  for (let at = 0; at < 17; at += 1) many.add(message(String(at), 1))
  expect(all(many).at(-1)).toBe('rate_limit_exceeded')
  // What was taken makes room.
  expect(heavy.add(message('d', 100))).toBe(true)
  expect(all(heavy)).toEqual(['d'])
})

test('who goes on after hundreds of refusals is not listening', () => {
  const line = createMessageQueue(100)
  const added = Array.from({ length: 300 }, () => line.add(message('', 101)))
  expect(added.indexOf(false)).toBe(256)
})
