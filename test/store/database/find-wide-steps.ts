/** Finds the steps of a query plan that may read or sort as many rows as a table or a tenant has. */
import type { Engine } from '../../../src/store/database/engine-interface.ts'

/** Tables that grow with use. The tables of replicas, migrations and flags stay short. */
const LARGE_TABLES = [
  'turns',
  'items',
  'requests',
  'conversations',
  'stream_events',
  'summaries',
  'layer_versions',
  'facts',
  'fact_words',
  'media',
  'media_pieces',
  'text_pieces',
  'media_uses',
  'media_addresses',
  'forgotten',
  'idempotency_keys',
  'answer_messages',
]

/** Indexes that hold few rows, however large their table is: here the unfinished turns. */
const SHORT_INDEXES = /\bturns_by_state\b/

/** Columns whose values many rows share, e.g. all rows of a user. */
const SHARED_COLUMNS = ['tenant', 'user_id', 'user_key', 'side', 'layer', 'core']

export function findWideSteps(
  language: Engine['language'],
  sql: string,
  plan: readonly unknown[],
): readonly string[] {
  return language === 'sqlite'
    ? findWideStepsOfSqlite(sql, plan as readonly { readonly detail: string }[])
    : findWideStepsOfPostgres(plan as readonly PostgresPlanRow[])
}

function findWideStepsOfSqlite(
  sql: string,
  steps: readonly { readonly detail: string }[],
): readonly string[] {
  const names = listNamesOfLargeTables(sql)
  return steps.flatMap(({ detail }) => {
    if (detail.startsWith('USE TEMP B-TREE')) return [detail]
    const [, verb, name = '', condition = ''] =
      /^(SCAN|SEARCH) (\S+)(?:.*?\((.*)\))?/.exec(detail) ?? []
    if (verb === undefined || !names.has(name) || SHORT_INDEXES.test(detail)) return []
    return verb === 'SCAN' || isShared(condition.split(' AND ')) ? [detail] : []
  })
}

/**
 * True for conditions like `tenant=?` and `used_at<?`, which many rows meet. The first expression of an index is
 * the user.
 */
function isShared(conditions: readonly string[]): boolean {
  if (conditions.filter((condition) => condition === '<expr>=?').length > 1) return false
  return conditions.every((condition) => {
    const [, column = '', operator] = /^(.+?)(=|<|>)/.exec(condition) ?? []
    return operator !== '=' || column === '<expr>' || SHARED_COLUMNS.includes(column)
  })
}

/** The names of large tables in a statement: their own, and those after `from turns` or `from turns as`. */
function listNamesOfLargeTables(sql: string): ReadonlySet<string> {
  const names = new Set(LARGE_TABLES)
  const found = sql.matchAll(
    /\b(?:from|join|,)\s+"?(\w+)"?\s+(?:as\s+)?(?!cross|join|left|where|set|on|order|limit|union)([a-z_]+)\b/g,
  )
  for (const [, table = '', alias = ''] of found) if (LARGE_TABLES.includes(table)) names.add(alias)
  return names
}

interface PostgresPlanRow {
  readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[]
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Sort Key'?: readonly string[]
  readonly Plans?: readonly PlanNode[]
}

function findWideStepsOfPostgres(rows: readonly PostgresPlanRow[]): readonly string[] {
  return rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => listWideNodes(Plan)))
}

function listWideNodes(node: PlanNode): readonly string[] {
  const type = node['Node Type']
  const own = isWideNode(node)
    ? [
        [type, node['Relation Name'], node['Index Name'], node['Index Cond'], node['Sort Key']]
          .filter((part) => part !== undefined)
          .join(' '),
      ]
    : []
  return [...own, ...(node.Plans ?? []).flatMap(listWideNodes)]
}

function isWideNode(node: PlanNode): boolean {
  const type = node['Node Type']
  if (type.endsWith('Sort')) return true
  const isScan = type.endsWith('Scan') && LARGE_TABLES.includes(node['Relation Name'] ?? '')
  if (!isScan || SHORT_INDEXES.test(node['Index Name'] ?? '')) return false
  return !isSelective(node['Index Cond'] ?? '')
}

/** True for a condition such as `((tenant = $1) AND (call_id = wanted.value))`. */
function isSelective(condition: string): boolean {
  const columns = [...condition.matchAll(/\((?:COALESCE\()?"?(\w+)[^=<>()]*\)?(?:::\w+)? = /g)]
  return columns.some(([, column = '']) => !SHARED_COLUMNS.includes(column))
}
