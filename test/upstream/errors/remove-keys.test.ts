import { describe, expect, test } from 'vitest'
import { createKeyRemover, listAccountKeys } from '../../../src/upstream/errors/remove-keys.ts'
import { plainAccount } from '../../support/account.ts'

const KEY = 'sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789'

describe('removing keys from texts', () => {
  const removeKeys = createKeyRemover([KEY, `${KEY}-second`, 'a.b*c+(d)|e', 'none'])

  test.each([
    [`Key ${KEY} is wrong.`, 'Key [key removed] is wrong.'],
    [`"${KEY}","Bearer ${KEY}"`, '"[key removed]","Bearer [key removed]"'],
    [`Key ${KEY.slice(0, 30)}… is wrong`, 'Key [key removed]… is wrong'],
    [`Key ${KEY}-second.`, 'Key [key removed].'],
    ['a.b*c+(d)|e', '[key removed]'],
    ['https://x/?alt=sse&key=AIzaSyX', 'https://x/?alt=sse&key=[key removed]'],
    ['https://x/?api_key=12#y', 'https://x/?api_key=[key removed]'],
  ])('%s becomes %s', (text, clean) => {
    expect(removeKeys(text)).toBe(clean)
    expect(removeKeys(clean)).toBe(clean)
  })

  test.each([
    'Incorrect API key provided: sk-proj-********6789.',
    'There is none.',
    'axbbbcd',
    'monkey=1&donkey=2',
    'Set the parameter key=value.',
  ])('the text "%s" stays as it is', (text) => {
    expect(removeKeys(text)).toBe(text)
  })

  test('a guess that begins correctly is removed completely, so that no letter can be found by trying', () => {
    const right = KEY.slice(0, 25)
    expect(removeKeys(`${right}x`)).toBe(removeKeys(`${right}${KEY.charAt(25)}`))
  })
})

test('the keys of an account are its API key and the headers whose name means a secret', () => {
  const headers = {
    'x-auth-token': 'Token abcdefghij',
    'x-title': 'My gateway',
    cookie: 'session=0123456789',
  }
  expect(listAccountKeys({ ...plainAccount('chat'), apiKey: KEY, headers })).toEqual([
    KEY,
    'Token',
    'abcdefghij',
    'session=0123456789',
  ])
})
