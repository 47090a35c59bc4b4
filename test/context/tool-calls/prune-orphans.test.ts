import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { pruneOrphans } from '../../../src/context/tool-calls/prune-orphans.ts'
import { show, talk } from '../../support/talk.ts'

function prune(items: readonly Item[]) {
  const step = pruneOrphans().run(items)
  return { kept: show(step.items), notes: step.notes }
}

test('an output whose call was dropped by a window is dropped (C12)', () => {
  const step = pruneOrphans().run(talk`
    output a 4 degrees
    user: thanks
  `)
  expect(show(step.items)).toBe('user: thanks')
  expect(step.notes).toEqual([{ did: 'dropped', at: 0, why: 'output-without-call' }])
})

test('a call that never got an output is dropped (C12)', () => {
  const { kept, notes } = prune(talk`
    user: how warm is it?
    call a weather
    user: hello?
  `)
  expect(kept).toBe('user: how warm is it?\nuser: hello?')
  expect(notes).toEqual([{ did: 'dropped', at: 1, why: 'call-without-output' }])
})

test('a call without a name is dropped, with its output', () => {
  const [call, output] = talk`
    call a
    output a
  `
  if (call?.type !== 'function_call' || output === undefined) throw new Error('no pair')
  expect(prune([{ ...call, name: '' }, output]).notes).toEqual([
    { did: 'dropped', at: 0, why: 'call-malformed' },
    { did: 'dropped', at: 1, why: 'output-without-call' },
  ])
})

test('if some calls of a batch got no output, only these calls are dropped', () => {
  const { kept, notes } = prune(talk`
    thinks: two places
    call a
    call b
    output b 4 degrees
    assistant: 4 degrees
  `)
  expect(kept).toBe('thinks: two places\ncall b\noutput b 4 degrees\nassistant: 4 degrees')
  expect(notes).toEqual([{ did: 'dropped', at: 1, why: 'call-without-output' }])
})

describe('calls at the end of the list', () => {
  test('calls at the end of the list stay and wait for their outputs', () => {
    const items = talk`
      user: how warm is it?
      sealed: two places
      call a
      custom b
      shell c ls
      hosted web_search_call
      output a 4 degrees
    `
    expect(pruneOrphans().run(items).items).toBe(items)
    expect(pruneOrphans('stub').run(items).items).toBe(items)
  })

  test('calls without outputs are dropped if any message follows', () => {
    for (const word of ['user: hello?', 'assistant: well', 'developer: hurry']) {
      const { kept } = prune(talk`
        call a
        ${word}
      `)
      expect(kept).toBe(word)
    }
  })

  test('calls without outputs are dropped if another answer follows', () => {
    const { kept } = prune(talk`
      call a
      call b
      output b
      call c
    `)
    expect(kept).toBe('call b\noutput b\ncall c')
  })

  test('calls without outputs stay at the end if only reasoning follows', () => {
    const { kept } = prune(talk`
      call a
      call b
      output b
      thinks: hm
    `)
    expect(kept).toBe('call a\ncall b\noutput b')
  })

  test('calls without outputs stay at the end if only the misplaced output of an older call follows', () => {
    const { kept } = prune(talk`
      call a
      user: and there?
      call b
      output a
    `)
    expect(kept).toBe('call a\noutput a\nuser: and there?\ncall b')
  })

  test('calls at the end of the list are dropped if they have no name or no id', () => {
    const [call] = talk`call a`
    if (call?.type !== 'function_call') throw new Error('no call')
    expect(prune([{ ...call, name: '' }]).notes).toEqual([
      { did: 'dropped', at: 0, why: 'call-malformed' },
    ])
    expect(prune([{ ...call, call_id: '' }]).kept).toBe('')
  })
})

test('with `UNANSWERED_CALLS=stub`, a call in the middle without an output stays if it can have a stub output', () => {
  const { items, notes } = pruneOrphans('stub').run(talk`
    call a
    custom b
    shell c ls
    user: hello?
  `)
  expect(show(items)).toBe('call a\ncustom b\nuser: hello?')
  expect(notes).toEqual([{ did: 'dropped', at: 2, why: 'call-without-output' }])
})

test('a call without output is dropped if a later call reuses its id', () => {
  const { items } = pruneOrphans('stub').run(talk`
    call x
    assistant: so
    call 0 first
    output x
    call 0 second
    output 0
  `)
  expect(show(items)).toBe('call x\noutput x\nassistant: so\ncall 0 second\noutput 0')
})

test('a call without output is dropped even if its id is used again in a later round', () => {
  const { kept } = prune(talk`
    user: one
    call 0
    user: two
    call 0
    output 0 here
  `)
  expect(kept).toBe('user: one\nuser: two\ncall 0\noutput 0 here')
})

test('an output that comes twice is sent once', () => {
  const { kept, notes } = prune(talk`
    call a
    output a first
    output a second
  `)
  expect(kept).toBe('call a\noutput a first')
  expect(notes).toEqual([{ did: 'dropped', at: 2, why: 'output-without-call' }])
})

test('reasoning is dropped together with the call that it led to (C13)', () => {
  const { kept, notes } = prune(talk`
    user: how warm is it?
    sealed: a
    thinks: b
    call a
    user: hello?
  `)
  expect(kept).toBe('user: how warm is it?\nuser: hello?')
  expect(notes.map(({ at, why }) => `${at} ${why}`)).toEqual([
    '1 reasoning-without-follower',
    '2 reasoning-without-follower',
    '3 call-without-output',
  ])
})

test('reasoning of a dropped call is dropped even if the reasoning of another call follows', () => {
  const { kept } = prune(talk`
    sealed: for the call
    call a
    sealed: for the words
    assistant: never mind
  `)
  expect(kept).toBe('sealed: for the words\nassistant: never mind')
})

test('reasoning stays before items of hosted tools and before further reasoning', () => {
  const items = talk`
    sealed: a
    sealed: b
    hosted web_search_call
    sealed: c
    assistant: found it
  `
  expect(pruneOrphans().run(items).items).toBe(items)
})

test('an output is moved to its call if a message separates them', () => {
  const { kept, notes } = prune(talk`
    call a
    user: are you there?
    assistant: wait
    output a 4 degrees
    assistant: 4 degrees
  `)
  expect(kept).toBe(
    'call a\noutput a 4 degrees\nuser: are you there?\nassistant: wait\nassistant: 4 degrees',
  )
  expect(notes).toEqual([{ did: 'moved', at: 3, why: 'output-misplaced' }])
})

test('a misplaced output is moved after the other outputs of its batch', () => {
  const { kept } = prune(talk`
    call a
    call b
    output b
    call c
    output a
    output c
  `)
  expect(kept).toBe('call a\ncall b\noutput b\noutput a\ncall c\noutput c')
})

test("pruning does not change a batch of calls that has reasoning and a hosted tool's item between the calls", () => {
  const items = talk`
    sealed: first
    call a
    sealed: second
    call b
    hosted mcp_call
    output b
    output a
  `
  expect(pruneOrphans().run(items).items).toBe(items)
})

test('an output after reasoning that led to another item is moved before that reasoning', () => {
  const { kept } = prune(talk`
    call a
    sealed: and now the words
    output a
    assistant: done
  `)
  expect(kept).toBe('call a\noutput a\nsealed: and now the words\nassistant: done')
})

test('a later call does not become part of a batch whose output was moved', () => {
  const { kept, notes } = prune(talk`
    call a
    sealed: and now b
    output a
    call b
    output b
  `)
  expect(kept).toBe('call a\noutput a\nsealed: and now b\ncall b\noutput b')
  expect(notes).toEqual([{ did: 'moved', at: 2, why: 'output-misplaced' }])
})

test('pruning writes no `moved` note for an item whose neighbor it dropped', () => {
  const { kept, notes } = prune(talk`
    call a
    call b
    output a
    sealed: lost
    output b
    user: thanks
  `)
  expect(kept).toBe('call a\ncall b\noutput a\noutput b\nuser: thanks')
  expect(notes).toEqual([{ did: 'dropped', at: 3, why: 'reasoning-without-follower' }])
})

test('pruning keeps calls with outputs of each kind of tool', () => {
  const { kept } = prune(talk`
    custom a
    shell b ls
    shell c pwd
    shell-output b a.ts
    custom-output a found
    assistant: found
  `)
  expect(kept).toBe(
    'custom a\nshell b ls\nshell-output b a.ts\ncustom-output a found\nassistant: found',
  )
})

test('if a client sends a call that is also stored, only the first of the two in the list is sent', () => {
  const [question, thought, call, output, ...rest] = talk`
    user: how warm is it?
    sealed: let me see
    call a weather {"city":"Rome"}
    output a 4 degrees
    sealed: let me see
    call a weather {"city":"Rome"}
    output a 4 degrees
    sealed: now the words
    assistant: 4 degrees
  `
  if (question === undefined || thought === undefined) throw new Error('no talk')
  if (call === undefined || output === undefined) throw new Error('no pair')
  const origin = { wire: 'responses', account: 'a', model: 'm', prefixHash: null }
  const { kept, notes } = prune([question, thought, { ...call, origin }, output, ...rest])
  expect(kept).toBe(show([question, thought, call, output, ...rest.slice(3)]))
  expect(notes).toEqual([
    { did: 'dropped', at: 4, why: 'reasoning-without-follower' },
    { did: 'dropped', at: 5, why: 'pair-duplicate' },
    { did: 'dropped', at: 6, why: 'pair-duplicate' },
  ])
})
