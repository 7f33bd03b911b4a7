-- Where three characters stand in what is searched: a word of one or two is looked up as the beginning of three.
CREATE VIRTUAL TABLE message_place USING fts5vocab (message_fts, instance);
-- A word at the end of a text begins three, too.
UPDATE message_text SET text = text || char(10);
