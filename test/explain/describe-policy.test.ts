/** Describes a policy with the field names of policy overrides. */
import { expect, test } from 'vitest'
import { resolvePolicy } from '../../src/core/context-policy.ts'
import { readPolicyOverrides } from '../../src/dialects/context-policy/parse-and-format-overrides.ts'
import { describePolicy } from '../../src/explain/describe-policy.ts'

const SAID = { policy: 'lean', summaries: { keep_turns: 2 }, media: { image_messages: 7 } }

test('explain names policy fields and values as they can be sent in a request', () => {
  const wishes = readPolicyOverrides(SAID, 'backstory')
  const told = describePolicy(resolvePolicy([wishes]), [{ by: 'request', overrides: wishes }])
  expect(told).toEqual({
    name: 'lean',
    by: 'request',
    changes: [
      { field: 'media.image_messages', value: 7, preset: null, by: 'request' },
      { field: 'summaries.keep_turns', value: 2, preset: 4, by: 'request' },
    ],
  })
})

test('a changed policy field that no setting, conversation or request sets is attributed to the gateway', () => {
  const policy = resolvePolicy([{ policy: 'capped' }])
  const without = { ...policy, outputs: { ...policy.outputs, expand: false } }
  const { changes } = describePolicy(without, [{ by: 'settings', overrides: { policy: 'capped' } }])
  expect(changes).toEqual([{ field: 'outputs.expand', value: false, preset: true, by: 'gateway' }])
})
