import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { addMediaLookupTimeout } from '../../../../src/gateway/prompt/additions/add-media-lookup-timeout.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a memory that does not answer is not waited for, and takes no room afterwards', async () => {
  const { promise, resolve } = Promise.withResolvers<null>()
  const told: string[] = []
  const rooms: boolean[] = []
  const slow = {
    async find(_urls: readonly string[], hasRoom: (chars: number) => boolean) {
      rooms.push(hasRoom(1))
      await promise
      rooms.push(hasRoom(1))
      return new Map()
    },
    save: () => undefined,
  }
  const log = (_level: string, event: string) => void told.push(event)
  const found = addMediaLookupTimeout(slow, log).find(['https://a.example/1'], () => true)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await found).toEqual(new Map())
  expect(told).toEqual(['media-not-kept'])
  resolve(null)
  await vi.advanceTimersByTimeAsync(0)
  expect(rooms).toEqual([true, false])
})

test('what it says in time is given, with the room that it takes', async () => {
  const medium = { type: 'image/png', base64: 'QUJD' }
  const kept = {
    find: async (urls: readonly string[], hasRoom: (chars: number) => boolean) =>
      new Map(urls.map((url) => [url, hasRoom(4) ? medium : null])),
    save: () => undefined,
  }
  const found = await addMediaLookupTimeout(kept, () => undefined).find(
    ['https://a.example/1'],
    () => true,
  )
  expect([...found.values()]).toEqual([medium])
})
