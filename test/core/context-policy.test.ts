import { describe, expect, test } from 'vitest'
import { resolvePolicy, POLICY_NAMES, PRESETS } from '../../src/core/context-policy.ts'

test('the default context policy is retain', () => {
  expect(resolvePolicy([])).toBe(PRESETS.retain)
  expect(resolvePolicy([null, {}])).toEqual(PRESETS.retain)
})

test.each(POLICY_NAMES)('the policy name %s alone resolves to its preset', (policy) => {
  expect(resolvePolicy([{ policy }])).toEqual(PRESETS[policy])
})

describe('overrides of the context policy', () => {
  test('policy overrides apply field by field, and the last override of a field counts', () => {
    const { window, outputs } = resolvePolicy([
      { window: { items: 40, turns: 10 } },
      { window: { turns: 20 }, outputs: { keepTurns: 3 } },
    ])
    expect(window).toEqual({ items: 40, turns: 20, tokens: null })
    expect(outputs).toEqual({ ...PRESETS.retain.outputs, keepTurns: 3 })
  })

  test('a policy override that names another preset resets the fields that presets define, and no others', () => {
    const policy = resolvePolicy([
      { policy: 'lean', window: { items: 40 }, speakers: { names: 'prefix' } },
      { policy: 'replay' },
    ])
    expect(policy).toEqual({
      ...PRESETS.replay,
      speakers: { ...PRESETS.replay.speakers, names: 'prefix' },
    })
  })

  test("a policy override with null removes the preset's limit", () => {
    expect(
      resolvePolicy([{ window: { items: 40 } }, { window: { items: null } }]).window.items,
    ).toBe(null)
  })

  test('several policy overrides join their `notes` texts, unless the mode is `replace`', () => {
    const note = (text: string) => ({ text, depth: 0, role: 'developer' as const })
    const operator = { notes: { entries: [note('operator')] } }
    const textsOf = (entries: readonly { text: string }[]) => entries.map(({ text }) => text)
    const added = resolvePolicy([operator, { notes: { entries: [note('request')] } }])
    expect(textsOf(added.notes.entries)).toEqual(['operator', 'request'])
    const replaced = resolvePolicy([
      operator,
      { notes: { entries: [note('request')], mode: 'replace' } },
    ])
    expect(textsOf(replaced.notes.entries)).toEqual(['request'])
    expect(textsOf(resolvePolicy([operator, { window: { turns: 2 } }]).notes.entries)).toEqual([
      'operator',
    ])
  })
})
