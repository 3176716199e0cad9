CREATE DATABASE IF NOT EXISTS retrieval_baseline:place;
USE DATABASE retrieval_baseline;
