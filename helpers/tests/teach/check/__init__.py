"""Tests of the checks. A package, so that its files may be named as those of other rooms."""
