{{%AUTOESCAPE context="HTML"}}
<!DOCTYPE html>
<html>
<head><title>Fortunes</title></head>
<body>
<table>
<tr><th>id</th><th>message</th></tr>
{{#FORTUNE}}
<tr><td>{{ID}}</td><td>{{MESSAGE}}</td></tr>
{{/FORTUNE}}
</table>
</body>
</html>
