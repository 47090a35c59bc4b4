/** SQL that fills all large tables, the same for SQLite and Postgres. Most rows belong to one tenant. */

const TURNS = 6_000

/** A table of the numbers from 1 to `count` and a tenant for each. */
const numbers = (count: number) => `with recursive counted(n) as (
    select 1 union all select n + 1 from counted where n < ${count}
  ), rows as (select n, case when n % 10 = 0 then 'small' else 'large' end as tenant from counted)`

const id = (number: string) => `cast(${number} as text)`

export const FILL: readonly string[] = [
  `insert into turns (id, tenant, user_id, thread, parent, dialect, wire, account, model, state,
      created_at, used_at, request, depth, conversation, metadata, content_hash, fingerprint,
      short_lived, bytes, served_model, digests)
    ${numbers(TURNS)} select ${id('n')}, tenant, case when n % 3 = 0 then 'u' || n % 50 end,
      ${id('n / 10')}, case when n % 10 > 0 then ${id('n - 1')} end,
      case n % 2 when 0 then 'chat' else 'responses' end, 'w', 'a', 'm' || n % 5, 'complete',
      n, n, '{}', n % 10, case when n % 4 = 0 then 'conv_' || n end, case when n % 7 = 0 then '{"a":"b"}' end,
      'h' || n / 3, 'f' || n / 3, n % 2, 100, 's' || n % 5, '{"tools":"d' || n / 10 || '"}' from rows`,
  `insert into items (turn_id, tenant, side, position, type, body, item_id, call_id, called_for)
    ${numbers(TURNS)}, places as (select 'in' as side, 0 as position union all select 'out', 0
      union all select 'out', 1)
    select ${id('n')}, tenant, side, position, 'message', '{}', 'i' || n || side || position,
      case when side = 'out' then 'c' || n % 100 end, case when side = 'out' and n % 2 = 0 then '' end
    from rows cross join places`,
  `insert into requests (turn_id, tenant, part, piece, base, hops, prefix, suffix, body, round, base_round)
    ${numbers(TURNS)}, parts as (select 'about' as part union all select 'body' union all select 'items')
    select ${id('n')}, tenant, part, 0, case when n % 10 > 0 then ${id('n - 1')} end, n % 10, 0, 0, '{}', 0, 0
    from rows cross join parts`,
  `insert into conversations (id, tenant, user_id, metadata, created_at, head)
    ${numbers(TURNS / 2)} select 'conv_' || n, tenant, case when n % 3 = 0 then 'u' || n % 50 end, '{}', n, ${id('n')}
    from rows`,
  `insert into stream_events (turn_id, first_number, last_number, tenant, text)
    ${numbers(TURNS / 2)} select ${id('n')}, 0, 9, tenant, 'x' from rows`,
  `insert into text_pieces (turn_id, text_name, piece, tenant, body)
    ${numbers(TURNS / 2)} select ${id('n')}, 'events-0', 0, tenant, 'x' from rows`,
  `insert into summaries (id, tenant, user_id, thread, conversation, prefix_hash, turns, items, body,
      tokens_before, tokens_after, model, prompt_version, generation, created_at, used_at, short_lived)
    ${numbers(TURNS / 2)} select ${id('n')}, tenant, case when n % 3 = 0 then 'u' || n % 50 end, ${id('n')},
      'conv_' || n, 'h' || n, 1, 1, '{}', 1, 1, 'm', 1, 0, n, n, n % 2 from rows`,
  `insert into layer_versions (id, tenant, user_id, layer, thread, number, round, body, created_at, used_at, short_lived)
    ${numbers(TURNS / 2)} select ${id('n')}, tenant, case when n % 3 = 0 then 'u' || n % 50 end, 'notes',
      ${id('n')}, 1, 1, '{}', n, n, n % 2 from rows`,
  `insert into facts (id, tenant, user_id, scope, body, importance, core, words, word_key, valid_until,
      created_at, changed_at, used_at, use_count)
    ${numbers(TURNS / 2)} select 'fact_' || n, tenant, 'u' || n % 500, case when n % 5 = 0 then ${id('n')} else 'user' end,
      '{}', 1, n % 2, 'w' || n, 'k', case when n % 3 = 0 then n end, n, n, n, 0 from rows`,
  `insert into fact_words (tenant, user_key, scope, word, fact_id)
    ${numbers(TURNS / 2)} select tenant, 'u' || n % 500, case when n % 5 = 0 then ${id('n')} else 'user' end,
      'w' || n % 40, 'fact_' || n from rows`,
  `insert into media (id, tenant, mime, chars, created_at, used_at)
    ${numbers(TURNS / 2)} select 'm' || n, tenant, 'image/png', 9, n, n from rows`,
  `insert into media_pieces (media_id, position, tenant, body)
    ${numbers(TURNS / 2)} select 'm' || n, 0, tenant, 'x' from rows`,
  `insert into media_uses (media_id, turn_id) ${numbers(TURNS / 2)} select 'm' || n, ${id('n')} from rows`,
  `insert into media_addresses (id, tenant, user_id, thread, media_id, mime, fetched_at, used_at)
    ${numbers(TURNS / 2)} select 'a' || n, tenant, case when n % 3 = 0 then 'u' || n % 50 end, ${id('n')}, 'm' || n,
      'image/png', n, n from rows`,
  `insert into forgotten (tenant, name, forgotten_at)
    ${numbers(TURNS / 2)} select tenant, 'thread:' || n, n from rows`,
  `insert into idempotency_keys (id, tenant, user_id, fingerprint, turn_id, created_at)
    ${numbers(TURNS / 2)} select ${id('n')}, tenant, case when n % 3 = 0 then 'u' || n % 50 end, 'f', ${id('n')}, n
    from rows`,
  `insert into answer_messages (id, tenant, user_id, chat, message, parent, segment, continues, turn_id, created_at, used_at,
      short_lived)
    ${numbers(TURNS / 2)} select ${id('n')}, tenant, case when n % 3 = 0 then 'u' || n % 50 end, 'c' || n / 10, 'm' || n / 2,
      '', n % 2, 0, case when n % 2 = 0 then ${id('n')} end, n, n, n % 2 from rows`,
]
