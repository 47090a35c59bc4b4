import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { addMediaLookupTimeout } from '../../../../src/gateway/prompt/additions/load-remote-media.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a look-up of stored media finds none if the database is slow, and reserves no memory when it answers later', async () => {
  const { promise, resolve } = Promise.withResolvers<null>()
  const logged: string[] = []
  const reserved: boolean[] = []
  const slow = {
    async find(_urls: readonly string[], fitsInMemory: (chars: number) => boolean) {
      reserved.push(fitsInMemory(1))
      await promise
      reserved.push(fitsInMemory(1))
      return new Map()
    },
    save: () => undefined,
  }
  const log = (_level: string, event: string) => void logged.push(event)
  const found = addMediaLookupTimeout(slow, log).find(['https://a.example/1'], () => true)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await found).toEqual(new Map())
  expect(logged).toEqual(['media-not-kept'])
  resolve(null)
  await vi.advanceTimersByTimeAsync(0)
  expect(reserved).toEqual([true, false])
})

test('a look-up of stored media returns media that are found in time, and reserves memory for them', async () => {
  const medium = { type: 'image/png', base64: 'QUJD' }
  const cache = {
    find: async (urls: readonly string[], fitsInMemory: (chars: number) => boolean) =>
      new Map(urls.map((url) => [url, fitsInMemory(4) ? medium : null])),
    save: () => undefined,
  }
  const found = await addMediaLookupTimeout(cache, () => undefined).find(
    ['https://a.example/1'],
    () => true,
  )
  expect([...found.values()]).toEqual([medium])
})
