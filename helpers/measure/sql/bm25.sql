-- BM25, search and its measures in SQL that DuckDB and Spark SQL both read (Robertson et al. 1995).
-- Given: offered(unit, doc_id, text), what is searched; settings(k1, b, epsilon, idf), one row.
-- `:pattern` is what a word is, `:depth` the length of a run, `:first` and `:last` the ids of a batch.
-- Numbers have an exponent, because 1.0 is a DECIMAL in Spark.

-- fingerprint of offered(unit, doc_id, text), in two steps so that no row holds a whole corpus
SELECT md5(array_join(array_sort(array_agg(part)), ','))
FROM (SELECT md5(array_join(array_sort(array_agg(md5(concat(unit, ' ', doc_id, ' ', text)))), ',')) AS part
      FROM offered GROUP BY substr(md5(unit), 1, 3)) AS parts;

-- index
CREATE TABLE units AS  -- numbers in the order of the ids, because engines add up by numbers faster
SELECT unit, doc_id, CAST(row_number() OVER (ORDER BY unit) AS BIGINT) AS number
FROM offered;

CREATE TABLE postings AS
SELECT word, number, CAST(count(*) AS DOUBLE) AS tf
FROM (SELECT number, explode(regexp_extract_all(lower(text), :pattern, 0)) AS word
      FROM offered JOIN units ON units.unit = offered.unit) AS tokens
GROUP BY word, number;

CREATE TABLE corpus AS
SELECT CAST(count(*) AS DOUBLE) AS n, (SELECT sum(tf) FROM postings) / count(*) AS mean_length
FROM units;

CREATE TABLE vocabulary AS  -- rank_bm25 lifts words of more than half of the units to a floor
SELECT word, df,
       CASE WHEN idf = 'lucene' THEN ln(1e0 + (n - df + 5e-1) / (df + 5e-1))
            WHEN okapi < 0e0 THEN epsilon * avg(okapi) OVER ()
            ELSE okapi END AS weight
FROM (SELECT word, n, df, ln(n - df + 5e-1) - ln(df + 5e-1) AS okapi
      FROM (SELECT word, CAST(count(*) AS DOUBLE) AS df FROM postings GROUP BY word) AS counted
      CROSS JOIN corpus) AS words
CROSS JOIN settings;

CREATE TABLE weights AS  -- in the order of the words, so that a query reads its share of the table
SELECT p.word, p.number,
       v.weight * p.tf * (k1 + 1e0) / (p.tf + k1 * (1e0 - b + b * length / mean_length)) AS weight
FROM postings AS p
JOIN vocabulary AS v ON v.word = p.word
JOIN (SELECT number, sum(tf) AS length FROM postings GROUP BY number) AS l ON l.number = p.number
CROSS JOIN corpus CROSS JOIN settings
ORDER BY word;

-- search: queries(query_id, text)
CREATE OR REPLACE TEMP VIEW asked AS
SELECT query_id, word, CAST(count(*) AS DOUBLE) AS times
FROM (SELECT query_id, explode(regexp_extract_all(lower(text), :pattern, 0)) AS word
      FROM queries WHERE query_id BETWEEN :first AND :last) AS tokens
GROUP BY query_id, word;

CREATE OR REPLACE TEMP VIEW floors AS  -- a result scores at least what the last place has by one word
SELECT query_id, floor
FROM (SELECT query_id, max(round(times * weight, 10)) AS floor,
             row_number() OVER (PARTITION BY query_id
                                ORDER BY max(round(times * weight, 10)) DESC) AS place
      FROM (SELECT query_id, a.word, times,
                   row_number() OVER (PARTITION BY query_id ORDER BY df, a.word) AS rarity
            FROM asked AS a JOIN vocabulary AS v ON v.word = a.word
            WHERE df >= :depth) AS common
      JOIN weights AS w ON w.word = common.word
      JOIN units ON units.number = w.number
      WHERE rarity = 1
      GROUP BY query_id, doc_id) AS placed
WHERE place = :depth AND (SELECT min(weight) FROM vocabulary) >= 0e0;

-- a document has its best unit's score; ties in the order of the ids
SELECT query_id, doc_id, CAST(place AS INT) AS place, score
FROM (SELECT scored.query_id, doc_id, max(score) AS score,
             row_number() OVER (PARTITION BY scored.query_id
                                ORDER BY max(score) DESC, doc_id) AS place
      FROM (SELECT a.query_id, w.number, round(sum(a.times * w.weight), 10) AS score
            FROM asked AS a JOIN weights AS w ON w.word = a.word
            GROUP BY a.query_id, w.number) AS scored
      LEFT JOIN floors ON floors.query_id = scored.query_id
      JOIN units ON units.number = scored.number
      WHERE floor IS NULL OR score >= floor
      GROUP BY scored.query_id, doc_id) AS ranked
WHERE place <= :depth;

-- evaluate: run(query_id, doc_id, place), qrels(query_id, doc_id, grade); a query without results counts as 0
CREATE OR REPLACE TEMP VIEW measures AS
SELECT ideal.query_id,
       coalesce(gained, 0e0) / best AS ndcg_10,
       coalesce(reciprocal, 0e0) AS rr,
       coalesce(found, 0e0) / relevant AS recall_100
FROM (SELECT query_id, CAST(count(*) AS DOUBLE) AS relevant,
             sum(CASE WHEN place <= 10 THEN grade / (ln(place + 1e0) / ln(2e0)) ELSE 0e0 END) AS best
      FROM (SELECT query_id, grade,
                   row_number() OVER (PARTITION BY query_id ORDER BY grade DESC, doc_id) AS place
            FROM qrels WHERE grade > 0) AS sorted
      GROUP BY query_id) AS ideal
LEFT JOIN (SELECT r.query_id, max(1e0 / place) AS reciprocal,
                  CAST(sum(CASE WHEN place <= 100 THEN 1 ELSE 0 END) AS DOUBLE) AS found,
                  sum(CASE WHEN place <= 10 THEN grade / (ln(place + 1e0) / ln(2e0)) ELSE 0e0 END) AS gained
           FROM run AS r JOIN qrels AS q ON q.query_id = r.query_id AND q.doc_id = r.doc_id
           WHERE grade > 0
           GROUP BY r.query_id) AS seen
ON seen.query_id = ideal.query_id;
