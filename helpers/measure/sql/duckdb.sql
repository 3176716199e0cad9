CREATE OR REPLACE TEMP MACRO explode(list) AS unnest(list);
CREATE OR REPLACE TEMP MACRO array_join(list, between) AS array_to_string(list, between);
SET memory_limit = '2GB';
SET preserve_insertion_order = false;
SET enable_progress_bar = false;
